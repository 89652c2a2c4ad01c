import type { SavedChain } from '../../../src/domain/iptables/saved-tables.js';
import { getOrMake } from '../../../src/domain/model/maps.js';
import type { RuleSource, WalkedChain } from '../../../src/diagnostics/domain/iptables/rule.js';
import { SavedRules } from '../../../src/diagnostics/domain/iptables/saved-rules.js';
import { walkTables } from '../../../src/diagnostics/domain/iptables/tables-walk.js';
import type { VirtualServerId } from '../../../src/domain/ipvs/virtual-server.js';
import { walkIpvs, type WalkedServer } from '../../../src/diagnostics/domain/ipvs-walk.js';
import type { Packet, PacketPath } from './packet-walk.js';
import type { ProxiedPort } from '../../../src/domain/userspace/proxied-port.js';
import { walkProxied } from '../../../src/diagnostics/domain/userspace-walk.js';
import { serverAt } from '../kernel/ipvs/virtual-server.js';
import type { Machine } from '../kernel/machine.js';
import { isBuiltIn } from '../kernel/programs/tables/table.js';
import type { TableSet } from '../kernel/programs/tables/table-set.js';
import { AskedSets } from './asked-sets.js';
import { answeredOnce, ANYTHING, type Inquiry } from './inquiry.js';
import { LEFT_ALONE, type PacketWalk } from './packet-walk.js';
import { RememberedWalk } from './remembered-walk.js';

/** What stands for the process where it has a socket. */
const IN_PROCESS = {
  servicePort: 'any/service/tcp/port',
  endpoints: [{ address: 'process', port: 0 }],
  isSticky: false,
} as unknown as ProxiedPort;

/** What packets ask about the tables of a family. */
interface Questions {
  readonly chainsWithEffect: () => string;
  readonly chain: (table: string, name: string) => () => SavedChain | undefined;
}

function questionsAbout(tables: TableSet): Questions {
  const chains = new Map<string, () => SavedChain | undefined>();
  const questionOf = (table: string, name: string) =>
    answeredOnce(tables, () => tables.table(table)?.chains.get(name));
  return {
    chainsWithEffect: answeredOnce(tables, () => tables.chainsWithEffect),
    chain: (table, name) => getOrMake(chains, `${table} ${name}`, () => questionOf(table, name)),
  };
}

/**
 * Through the tables of iptables of the variant that the node uses, IPVS, and the process of mode userspace. Packets meet the tables of
 * the other variant, too, which are left out: nothing removes what is written there, and so whoever writes there is seen to serve nobody.
 */
export class IptablesWalk implements PacketWalk {
  private readonly chains = new WeakMap<SavedChain, WalkedChain>();
  private readonly asked = new Map<TableSet, Questions>();
  private readonly remembered = new RememberedWalk((packet, inquiry) => this.send(packet, inquiry));

  constructor(private readonly machine: Machine) {}

  get takesAtInput(): boolean {
    return this.machine.servers.view().size > 0;
  }

  walk(packet: Packet): readonly PacketPath[] {
    return this.remembered.walk(packet);
  }

  private send(packet: Packet, inquiry: Inquiry): readonly PacketPath[] {
    const { machine } = this;
    const { programs, servers, links } = machine;
    const tables = programs.tableSet(packet.family, machine.iptables);
    const isWithoutServers = inquiry.ask(servers, () => servers.view().size === 0);
    // Without a rule no packet comes to the process either.
    const asked = getOrMake(this.asked, tables, () => questionsAbout(tables));
    const effective = inquiry.ask(tables, asked.chainsWithEffect);
    if (isWithoutServers && effective === '') return LEFT_ALONE;
    const rules = this.rulesOf(tables, asked.chain, effective, inquiry);
    const environment = { localAddresses: inquiry.ask(links, () => machine.addresses) };
    const proxied = (protocol: string, port: number) =>
      inquiry.ask(ANYTHING, () => machine.hasSocketAt(protocol, port)) ? IN_PROCESS : undefined;
    if (inquiry.ask(ANYTHING, () => machine.isProxying))
      return walkProxied(rules, proxied, packet, environment);
    const sets = new AskedSets(programs.sets, inquiry);
    if (isWithoutServers) return walkTables(rules, packet, environment, { sets });
    // Rules lead to no service address but the one that the packet was sent to.
    const isOwn = inquiry.ask(links, () => machine.serviceAddresses.has(packet.destination));
    const addresses = new Set(isOwn ? [packet.destination] : []);
    const server = (id: VirtualServerId) => this.server(id, inquiry);
    return walkIpvs({ rules, sets, addresses, server }, packet, environment);
  }

  private rulesOf(
    tables: TableSet,
    chainOf: Questions['chain'],
    effective: string,
    inquiry: Inquiry,
  ): RuleSource {
    return {
      chain: (table, name) => {
        if (isBuiltIn(table, name) && !effective.includes(` ${table}/${name}`)) return undefined;
        const saved = inquiry.ask(tables, chainOf(table, name));
        return saved && this.walked(table, saved);
      },
    };
  }

  private walked(table: string, saved: SavedChain): WalkedChain {
    let chain = this.chains.get(saved);
    if (!chain) {
      const alone = new SavedRules([{ name: table, chains: [saved] }], (_table, name) =>
        name.startsWith('KUBE-'),
      );
      chain = alone.chain(table, saved.name)!;
      this.chains.set(saved, chain);
    }
    return chain;
  }

  private server(asked: VirtualServerId, inquiry: Inquiry): WalkedServer | undefined {
    const { address, protocol, port } = asked;
    const id = serverAt(asked);
    const { servers } = this.machine;
    const revision = inquiry.ask(servers, () => servers.revisionOf(id));
    const found = revision === undefined ? undefined : servers.find(id);
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
