/** One request to the API server and what came of it. */
export interface AnsweredRequest {
  /** The status, or `<error>` when there was no answer. */
  readonly code: string;
  readonly method: string;
  /** `10.96.0.1:443`. */
  readonly host: string;
}

/** Is told of requests to the API server, for metrics. Calls are cheap and never throw. */
export interface ApiObserver {
  /** @param seconds until the answer began, or was given up */
  answered(request: AnsweredRequest, seconds: number): void;
  /** A request waited so long for its turn under the limit of requests. */
  waited(request: Omit<AnsweredRequest, 'code'>, seconds: number): void;
}

export const SILENT_OBSERVER: ApiObserver = { answered() {}, waited() {} };
