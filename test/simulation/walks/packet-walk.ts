import type { Protocol } from '../../model/objects.js';
import type { IpFamily } from '../../../src/domain/net/ip-family.js';

/** The first packet of a connection, on its way into or out of the node. */
export interface Packet {
  readonly family: IpFamily;
  /** Undefined for one that the node itself sends. */
  readonly inputInterface: string | undefined;
  readonly source: string;
  readonly destination: string;
  readonly protocol: Protocol;
  readonly destinationPort: number;
}

/** What becomes of packets, in one of the ways that rules leave to chance. */
export interface PacketPath {
  readonly verdict: 'forward' | 'reject' | 'drop' | 'untouched';
  /** Where they are sent. */
  readonly endpoint?: { readonly address: string; readonly port: number } | undefined;
  /** Between 0 and 1. */
  readonly probability: number;
  readonly masquerade: boolean;
  /** Whether the next connection of the same client goes there, too. */
  readonly sticky: boolean;
}

/** Sends packets through what the simulated kernel has at this moment. */
export interface PacketWalk {
  /** The same object as long as nothing has changed that may matter. */
  walk(packet: Packet): readonly PacketPath[];
  /** Whether it takes packets at the hook input only, as IPVS does: what other rules reject or drop does not come there. */
  readonly takesAtInput?: boolean;
}

/** What becomes of packets where there are no rules. */
export const LEFT_ALONE: readonly PacketPath[] = [
  { verdict: 'untouched', probability: 1, masquerade: false, sticky: false },
];
