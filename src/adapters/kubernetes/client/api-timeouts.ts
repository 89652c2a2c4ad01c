/** Milliseconds. */
export interface ApiTimeouts {
  /** Until the connection is established, TLS included. */
  readonly connect: number;
  /** From then until the response begins. */
  readonly response: number;
  /** Without any data of the response's body; a watch has its own limit. */
  readonly silence: number;
  /** An idle connection is probed by TCP after this. */
  readonly keepAlive: number;
  /** Tokens, certificates and the kubeconfig are read again after this. */
  readonly credentials: number;
  /** An exec plugin without a result after this is killed. */
  readonly plugin: number;
}

export const defaultApiTimeouts: ApiTimeouts = {
  connect: 10_000,
  response: 60_000,
  silence: 60_000,
  keepAlive: 30_000,
  credentials: 60_000,
  plugin: 30_000,
};
