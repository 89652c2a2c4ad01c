import type { IpSet } from '../../ipset/ip-set.js';
import type { Protocol } from '../../model/service-port-name.js';
import type { Course } from '../../walk/course.js';
import type { Watch } from '../../walk/watch.js';
import type { DeviceTowards } from './known-devices.js';

/** A packet in flight through tables. */
export interface TablesCourse extends Course {
  /** The mark of its connection. */
  readonly connectionMark: number;
  /** Connection tracking leaves it alone, and with that table nat. */
  readonly isUntracked: boolean;
  /** Which virtual server of IPVS took it. */
  readonly virtualServer: { readonly address: string; readonly port: number } | undefined;
}

/** What conditions need to know besides the packet. */
export interface Surroundings {
  readonly isLocal: (address: string) => boolean;
  /** An address of the node, of the packet's family. */
  readonly ownAddress: string;
  readonly deviceTowards: DeviceTowards;
  /** The IP sets that are known, by name. */
  readonly sets: ReadonlyMap<string, IpSet>;
  /** Whether the list of match `recent` holds the address. */
  readonly remembers: (list: string, address: string) => boolean;
  /** Missing: nobody asks what is compared. */
  readonly watch?: Watch | undefined;
}

export function protocolOf({ packet }: TablesCourse): Lowercase<Protocol> {
  return LOWER_CASE[packet.protocol];
}

const LOWER_CASE: Readonly<Record<Protocol, Lowercase<Protocol>>> = { TCP: 'tcp', UDP: 'udp', SCTP: 'sctp' };
