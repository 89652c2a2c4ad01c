import type { IpSet } from '../../../domain/ipvs/ip-set.js';
import { NarrowedRules } from '../iptables/narrowed-rules.js';
import type { ListedRules } from '../iptables/rule-source.js';
import { walkTables } from '../iptables/tables-walk.js';
import { walkIpvs } from '../ipvs/ipvs-walk.js';
import { virtualServerKey, type VirtualServerKey } from '../../../domain/ipvs/virtual-server.js';
import type { WalkedServer } from '../ipvs/walked-server.js';
import { singleAddress } from './address-ranges.js';
import type { Side } from './side.js';
import { setDestinations, tablesDestinations } from './tables-destinations.js';

/** All tables of iptables in one family. */
export function tablesSide(rules: ListedRules): Side {
  const narrowed = new NarrowedRules(rules);
  return {
    mode: 'iptables',
    serviceAddresses: new Set(),
    doubts: [],
    destinations: () => tablesDestinations(rules),
    walk: (packet, environment, watch) => walkTables(narrowed, packet, environment, { watch }),
  };
}

/** All that mode ipvs has in one family. */
export interface IpvsRules {
  readonly rules: ListedRules;
  readonly sets: readonly IpSet[];
  readonly servers: ReadonlyMap<VirtualServerKey, WalkedServer>;
  /** On the device of service addresses. */
  readonly addresses: ReadonlySet<string>;
}

/** Tables of iptables together with IPVS. */
export function ipvsSide({ rules, sets, servers, addresses }: IpvsRules): Side {
  const surroundings = {
    rules: new NarrowedRules(rules),
    sets: new Map(sets.map((set) => [set.name, set])),
    server: (id: Parameters<typeof virtualServerKey>[0]) => servers.get(virtualServerKey(id)),
    addresses,
  };
  return {
    mode: 'ipvs',
    serviceAddresses: addresses,
    doubts: [],
    *destinations() {
      yield* tablesDestinations(rules);
      yield* setDestinations(sets);
      for (const address of addresses) yield { addresses: singleAddress(address) };
      for (const { server } of servers.values()) {
        const { address, protocol, port } = server;
        yield { addresses: singleAddress(address), protocol, ports: [port, port] };
      }
    },
    walk: (packet, environment, watch) => walkIpvs(surroundings, packet, environment, undefined, watch),
  };
}
