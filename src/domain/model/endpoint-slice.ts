import type { IpFamily } from '../net/ip-family.js';
import type { Protocol } from './service-port-name.js';

/** What the proxy keeps of an EndpointSlice (spec/model.md 3). */
export interface EndpointSlice {
  readonly namespace: string;
  readonly name: string;
  /** Name of the Service it belongs to, in the same namespace. */
  readonly service: string;
  readonly family: IpFamily;
  readonly ports: readonly SlicePort[];
  readonly endpoints: readonly SliceEndpoint[];
  /** When the change that led to this slice happened, milliseconds since the epoch, where the cluster tells. */
  readonly triggerTime?: number;
}

export interface SlicePort {
  readonly name: string;
  readonly port: number;
  readonly protocol: Protocol;
}

export interface SliceEndpoint {
  readonly address: string;
  /** Runs on this node. */
  readonly isLocal: boolean;
  readonly ready: boolean;
  readonly serving: boolean;
  readonly terminating: boolean;
  readonly zoneHints: readonly string[];
  readonly nodeHints: readonly string[];
}
