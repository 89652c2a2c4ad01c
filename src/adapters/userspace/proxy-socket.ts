/** A port of the proxy behind which the endpoints of one service port are. */
export interface ProxySocket {
  readonly port: number;
  /** Some endpoints are gone: what cannot notice that by itself is ended. */
  endpointsChanged(): void;
  /** Takes no more clients. Resolves when the port is free; never rejects; idempotent. */
  close(): Promise<void>;
}
