/** Milliseconds. */
export const defaultApiTimeouts = {
  /** Until the connection is established, TLS included. */
  connect: 10_000,
  /** From then until the response begins. */
  response: 60_000,
  /** Without any data of the response's body; a watch has its own limit. */
  silence: 60_000,
  /** An idle connection is probed by TCP after this. */
  keepAlive: 30_000,
  /** Tokens, certificates and the kubeconfig are read again after this. */
  credentials: 60_000,
  /** An exec plugin without a result after this is killed. */
  plugin: 30_000,
};

export type ApiTimeouts = Readonly<typeof defaultApiTimeouts>;
