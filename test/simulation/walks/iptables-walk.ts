import type { SavedTables } from '../../../src/domain/iptables/text/saved-tables.js';
import { SavedRules } from '../../../src/domain/iptables/walk/saved-rules.js';
import { walkTables } from '../../../src/domain/iptables/walk/tables-walk.js';
import type { IpSet, IpSetType } from '../../../src/domain/ipset/ip-set.js';
import type { VirtualServerId } from '../../../src/domain/ipvs/virtual-server.js';
import { walkIpvs } from '../../../src/domain/ipvs/walk/ipvs-walk.js';
import type { WalkedServer } from '../../../src/domain/ipvs/walk/walked-server.js';
import type { IpFamily } from '../../../src/domain/net/ip-family.js';
import type { Packet } from '../../../src/domain/trace/packet.js';
import type { TracedEnding } from '../../../src/domain/trace/traced-ending.js';
import { walkProxied } from '../../../src/domain/userspace/walk/proxied-walk.js';
import type { Machine } from '../kernel/machine.js';
import type { PacketWalk } from './packet-walk.js';

const AF = { IPv4: 2, IPv6: 10 } as const;
const PROTOCOLS = { TCP: 6, UDP: 17, SCTP: 132 } as const;

/** Through the tables of iptables of one variant, IPVS, and the process of mode userspace. */
export class IptablesWalk implements PacketWalk {
  private readonly read = new Map<IpFamily, { readonly tables: SavedTables; readonly rules: SavedRules }>();

  constructor(private readonly machine: Machine) {}

  walk(packet: Packet): readonly TracedEnding[] {
    const { machine } = this;
    const rules = this.rulesOf(packet.family);
    const environment = { localAddresses: machine.addresses };
    if (machine.isProxying)
      return walkProxied(rules, (protocol, port) => machine.proxiedAt(protocol, port), packet, environment);
    if (machine.servers.view().size === 0) return walkTables(rules, packet, environment, { sets: this.sets });
    const addresses = new Set([...machine.links.addresses('kube-ipvs0')].map(({ address }) => address));
    return walkIpvs(
      { rules, sets: this.sets, addresses, server: (id) => this.server(id) },
      packet,
      environment,
    );
  }

  private rulesOf(family: IpFamily): SavedRules {
    const { programs, iptables } = this.machine;
    const tables = programs.tables(family, iptables);
    const known = this.read.get(family);
    if (known?.tables === tables) return known.rules;
    const rules = new SavedRules(tables, (_table, chain) => chain.startsWith('KUBE-'));
    this.read.set(family, { tables, rules });
    return rules;
  }

  private get sets(): ReadonlyMap<string, IpSet> {
    const { sets } = this.machine.programs;
    return new Map(
      sets.names.map((name) => {
        const { type, family, members } = sets.get(name)!;
        return [name, { name, type: type as IpSetType, family: family === 'any' ? 'IPv4' : family, members }];
      }),
    );
  }

  private server({ address, protocol, port }: VirtualServerId): WalkedServer | undefined {
    const family = AF[address.includes(':') ? 'IPv6' : 'IPv4'];
    const found = this.machine.servers.find({
      family,
      address,
      port,
      protocol: PROTOCOLS[protocol],
      firewallMark: 0,
    });
    if (!found) return undefined;
    const { scheduler, flags, timeout, destinations } = found;
    const server = {
      address,
      protocol,
      port,
      scheduler,
      flags,
      persistenceSeconds: (flags & 1) === 0 ? 0 : timeout,
    };
    return { server, realServers: [...destinations.values()] };
  }
}
