import type { IpSet } from '../../../domain/ipvs/ip-set.js';
import type { DeviceTowards } from '../iptables/known-devices.js';
import type { RuleSource } from '../iptables/rule-source.js';
import { walkTables } from '../iptables/tables-walk.js';
import { getOrMake } from '../../../domain/model/maps.js';
import type { Packet, PacketEnvironment } from '../trace/packet.js';
import type { TracedEnding } from '../trace/traced-ending.js';
import type { Watch } from '../walk/watch.js';
import { balanced } from './balancer.js';
import type { FindServer } from './walked-server.js';

/** Everything of mode ipvs in one family that packets meet: as it should be, or as the kernel has it. */
export interface IpvsSurroundings {
  readonly rules: RuleSource;
  /** By name. */
  readonly sets: ReadonlyMap<string, IpSet>;
  readonly server: FindServer;
  /** The service addresses that the node has, so that packets to them are its own. */
  readonly addresses: ReadonlySet<string>;
}

/** By both sets: there may be very many service addresses, and packets. */
const BOTH = new WeakMap<ReadonlySet<string>, WeakMap<ReadonlySet<string>, ReadonlySet<string>>>();

function bothOf(own: ReadonlySet<string>, ofServices: ReadonlySet<string>): ReadonlySet<string> {
  const known = getOrMake(BOTH, own, () => new WeakMap<ReadonlySet<string>, ReadonlySet<string>>());
  return getOrMake(known, ofServices, () => new Set([...own, ...ofServices]));
}

/**
 * Sends a packet, the first of its connection, through tables and virtual servers, and returns every possible ending. Which real
 * server gets it depends on the connections that there are; the probabilities are those of the long run.
 */
export function walkIpvs(
  { rules, sets, server, addresses }: IpvsSurroundings,
  packet: Packet,
  environment: PacketEnvironment,
  devices?: DeviceTowards,
  watch?: Watch,
): readonly TracedEnding[] {
  const { inputInterface, destination } = packet;
  // To an address of its own the node sends with that address as the source.
  const isToOwn = inputInterface === undefined && addresses.has(destination);
  const sent = isToOwn ? { ...packet, source: destination } : packet;
  const localAddresses = bothOf(environment.localAddresses, addresses);
  const endings = walkTables(
    rules,
    sent,
    { ...environment, localAddresses },
    {
      sets,
      devices,
      watch,
      balancer: (course) => balanced(server, course, watch),
    },
  );
  return isToOwn ? endings.map((ending) => ({ ...ending, source: destination })) : endings;
}
