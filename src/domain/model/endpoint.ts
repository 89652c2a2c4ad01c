import type { Protocol } from './service-port-name.js';

/** One endpoint of a service port: where a connection may be sent. */
export interface Endpoint {
  readonly address: string;
  readonly port: number;
  /** `ip:port`, the key by which endpoints are sorted and told apart. */
  readonly text: string;
  readonly isLocal: boolean;
  readonly ready: boolean;
  readonly serving: boolean;
  readonly terminating: boolean;
  readonly zoneHints: readonly string[];
  readonly nodeHints: readonly string[];
}

/** The port of a Service that endpoints belong to, within their Service. */
export interface PortIdentity {
  readonly port: string;
  readonly protocol: Protocol;
}
