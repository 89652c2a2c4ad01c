/** One request to the API server and its outcome. */
export interface AnsweredRequest {
  /** The status code, or `<error>` without a response. */
  readonly code: string;
  readonly method: string;
  /** `10.96.0.1:443`. */
  readonly host: string;
}

/** Counts requests to the API server, for metrics. Calls are cheap and never throw. */
export interface ApiObserver {
  /** @param seconds until the response began, or the request failed */
  answered(request: AnsweredRequest, seconds: number): void;
  /** The rate limit delayed a request by this time. */
  waited(request: Omit<AnsweredRequest, 'code'>, seconds: number): void;
  /** A connection is opened to this address: that of the API server, or of a proxy on the way. */
  connecting?(address: string, port: number): void;
}

export const SILENT_OBSERVER: ApiObserver = { answered() {}, waited() {} };
