import type { ForwardingEntry } from '../forwarding/forwarding-entry.js';
import { NODE_PORT, type FrontendAddress } from './frontend-map.js';

/** What a UDP service port means to the flows of its clients. */
export interface UdpServicePort {
  readonly frontends: readonly FrontendAddress[];
  /** `ip:port` of the endpoints that may keep the flows they have. */
  readonly endpoints: ReadonlySet<string>;
}

/** Undefined for other protocols, whose connections end by themselves. */
export function udpServicePort(entry: ForwardingEntry): UdpServicePort | undefined {
  if (entry.name.protocol !== 'UDP') return undefined;
  return {
    frontends: entry.frontends.map(({ address = NODE_PORT, port }) => ({ address, port })),
    endpoints: new Set(entry.flowKeepers.map(({ text }) => text)),
  };
}
