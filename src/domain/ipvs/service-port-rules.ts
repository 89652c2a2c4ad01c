import type { ForwardingEntry } from '../forwarding/forwarding-entry.js';
import type { SharedEntry } from '../iptables/table.js';
import type { Endpoint } from '../model/endpoint.js';
import type { ServiceSet } from './service-sets.js';
import type { VirtualServer } from './virtual-server.js';

/** A virtual server and the endpoints that it chooses from. */
export interface ServedAddress {
  readonly server: VirtualServer;
  readonly endpoints: readonly Pick<Endpoint, 'address' | 'port'>[];
}

/** A member of one of the sets, as the tool ipset prints it. */
export interface SetMember {
  readonly set: ServiceSet;
  readonly member: string;
}

/** What a service port asks for at one frontend. It gets that only when it holds the frontend. */
export interface FrontendRules {
  /** `10.96.0.10:53/UDP`, or `node port 30053/UDP` for what all addresses of a node port share. */
  readonly name: string;
  readonly served?: ServedAddress;
  /** The address to bind to the device of service addresses. */
  readonly bound?: string;
  readonly members: readonly SetMember[];
  readonly rules: readonly SharedEntry[];
}

/** Everything that one service port asks for in its family. */
export interface IpvsServicePortRules {
  /** From which this was compiled. */
  readonly entry: ForwardingEntry;
  /** Each name once. */
  readonly frontends: readonly FrontendRules[];
  /** Members that belong to no frontend. Other service ports may ask for the same. */
  readonly members: readonly SetMember[];
}
