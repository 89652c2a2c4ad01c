import type { Protocol } from '../../../domain/model/service-port-name.js';
import type { AddressRange } from './address-ranges.js';
import type { Packet, PacketEnvironment, PacketPath } from '../trace/trace.js';
import type { Watch } from '../walk/packet-state.js';
import { NamedError } from '../../../domain/model/named-error.js';
import type { IpFamily } from '../../../domain/net/ip-family.js';

/** Destinations that a rule, an element of a set or a virtual server distinguishes. Missing fields may have any value. */
export interface NamedDestination {
  readonly addresses?: AddressRange;
  readonly protocol?: Protocol;
  /** Both included. */
  readonly ports?: readonly [first: number, last: number];
}

/** The modes whose rules alone decide about packets, so that they can be compared. */
export const SIDE_MODES = ['iptables', 'ipvs', 'nftables'] as const;

/** Whose way of treating packets a side has. */
export type SideMode = (typeof SIDE_MODES)[number];

/** One of two things that are compared, in one family: what the kernel has, a plan, a saved dump. */
export interface Side {
  readonly mode: SideMode;
  /** The service addresses that this side makes the node's own. */
  readonly serviceAddresses: ReadonlySet<string>;
  /** What of its rules cannot be compared at all, for people. */
  readonly unsupported: readonly string[];
  destinations(): Iterable<NamedDestination>;
  /** Every path that a packet may have. */
  walk(packet: Packet, environment: PacketEnvironment, watch?: Watch): readonly PacketPath[];
}

/** Two sides cannot be compared; the message says why, and what to do instead. */
export class ComparisonError extends NamedError {
  /** @param side what has rules of userspace mode, for people */
  static userspace(side: string): ComparisonError {
    return new ComparisonError(
      `${side} cannot be compared: in userspace mode the rules lead connections to ports of a process, which alone knows the endpoints; "kubeproxy trace" follows packets through that process, "kubeproxy compare" compares plans of other modes`,
    );
  }
}

/** A side in each family that it has. */
export type FamilySides = Partial<Record<IpFamily, Side>>;
