import type { SharedEntry } from '../iptables/table.js';
import type { Endpoint } from '../model/endpoint.js';
import type { ServiceSet } from './service-sets.js';
import type { VirtualServer } from './virtual-server.js';

/** A virtual server and the endpoints that it chooses from. */
export interface ServedAddress {
  readonly server: VirtualServer;
  readonly endpoints: readonly Pick<Endpoint, 'address' | 'port'>[];
}

/** A member of one of the sets, as the kernel's tool prints it. */
export interface SetMember {
  readonly set: ServiceSet;
  readonly member: string;
}

/**
 * What a service port asks for at one frontend. Where several ask for the same frontend, the first by name has it and
 * the others have nothing of it.
 */
export interface FrontendClaim {
  /** For people, and to tell claims apart: `10.96.0.10:53/UDP`, or `node port 30053/UDP` for what all its addresses share. */
  readonly frontend: string;
  readonly served?: ServedAddress;
  /** The address is to be bound to the device of service addresses. */
  readonly bound?: string;
  readonly members: readonly SetMember[];
  readonly rules: readonly SharedEntry[];
}

/** Everything that one service port asks for in its family. */
export interface IpvsServicePortRules {
  /** Each frontend once. */
  readonly claims: readonly FrontendClaim[];
  /** Members that belong to no frontend; others may ask for the same. */
  readonly members: readonly SetMember[];
}
