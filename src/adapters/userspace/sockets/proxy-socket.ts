/** A port of the proxy behind which the endpoints of one service port are. */
export interface ProxySocket {
  readonly port: number;
  /** Some endpoints are gone: what cannot notice that by itself is ended. */
  endpointsChanged(): void;
  /** Takes no more clients, and frees the port. Called once; never rejects. */
  close(): Promise<void>;
}
