/** The rules, sets and virtual servers of IPVS mode: planned as text, and followed by packets as desired or as the kernel has them. */

import type { Tracer } from '../../application/ports/tracer.js';
import type { Walk } from '../../domain/walk/desired-walk.js';
import { restoreText } from './iptables-rules.js';
import { ipvsPlan } from '../../domain/compare/tables-side.js';
import type { Side } from '../../domain/compare/side.js';
import type { ForwardingEntry } from '../../../domain/forwarding/forwarding-entry.js';
import type { NodeNetwork } from '../../../domain/forwarding/node-network.js';
import type { SavedTables } from '../../../domain/iptables/saved-tables.js';
import { SavedRules } from '../../domain/iptables/saved-rules.js';
import { SERVICE_SETS, setName } from '../../../domain/ipvs/service-sets.js';
import { desiredIpvs } from '../../domain/ipvs-walk.js';
import type { IpFamily } from '../../../domain/net/ip-family.js';
import { isOwned } from '../../../adapters/iptables/owned-chains.js';
import { IPVS_OWNED_CHAINS } from '../../../adapters/ipvs/clean-up-ipvs.js';
import { walkWithDevices } from '../../domain/walk/on-demand.js';
import { virtualServerKey, type VirtualServerId, serverLines } from '../../../domain/ipvs/virtual-server.js';
import { walkIpvs, type IpvsInputs } from '../../domain/ipvs-walk.js';
import type { WalkedServer } from '../../domain/ipvs-walk.js';
import type { Packet, PacketEnvironment } from '../../domain/trace/trace.js';
import type { PacketPath } from '../../domain/trace/trace.js';
import { OnDemand } from '../../domain/walk/on-demand.js';
import type { IptablesCommands } from '../../../adapters/iptables/iptables-commands.js';
import type { IpSets } from '../../../adapters/ipset/ip-sets.js';
import {
  type ServiceAddresses,
  type VirtualServers,
  SERVICE_DEVICE,
} from '../../../adapters/ipvs/ipvs-kernel.js';
import { setLines } from '../../../domain/ipvs/ip-set.js';
import type { IpvsDesiredTables } from '../../../domain/ipvs/desired-state.js';
import { addressBits } from '../../../domain/net/cidr.js';

/** The rules of IPVS mode. Virtual servers by firewall mark are not seen. */
export class IpvsTracer implements Tracer {
  /**
   * @param scheduler of Services that request no other; the kernel is assumed to have those that are requested
   * @param open gives access to the kernel, each time it is read
   */
  constructor(
    private readonly family: IpFamily,
    private readonly scheduler: string,
    private readonly open: () => IpvsReader,
  ) {}

  /** The input of `ipset restore`, iptables-restore, `ipvsadm -R` and `ip -batch`, each under a line with its name. */
  plan(entries: Iterable<ForwardingEntry>, node: NodeNetwork): Promise<string> {
    const { sets, rules, servers, addresses } = this.tables(entries, node);
    const bits = addressBits(node.family);
    const sections = [
      ['# ipset restore', ...sets.flatMap(setLines)],
      restoreText(rules, node, () => false)
        .trimEnd()
        .split('\n'),
      ['# ipvsadm -R', ...serverLines(servers)],
      [
        '# ip -batch -',
        `link add ${SERVICE_DEVICE} type dummy`,
        ...addresses.map((address) => `address add ${address}/${bits} dev ${SERVICE_DEVICE}`),
      ],
    ];
    return Promise.resolve(sections.map((lines) => [...lines, ''].join('\n')).join(''));
  }

  desired(entries: Iterable<ForwardingEntry>, node: NodeNetwork): Promise<Side> {
    return Promise.resolve(ipvsPlan(this.tables(entries, node)));
  }

  private tables(entries: Iterable<ForwardingEntry>, node: NodeNetwork): IpvsDesiredTables {
    const options = { scheduler: this.scheduler, hasScheduler: () => true };
    return desiredIpvs(entries, node, { randomFully: true }, options);
  }

  async actual(signal?: AbortSignal): Promise<Walk> {
    const { family, open } = this;
    const reader = open();
    try {
      const saved = await reader.tables.save(family, signal);
      signal?.throwIfAborted();
      const { sets } = await reader.sets.read(setsIn(saved, family));
      const addresses = (await reader.addresses.list(family)) ?? [];
      const rules = new SavedRules(saved, (table, chain) => isOwned(IPVS_OWNED_CHAINS, table, chain));
      const read = {
        rules,
        sets: new Map(sets.map((set) => [set.name, set])),
        addresses: new Set(addresses),
      };
      return new KernelWalk(read, open);
    } finally {
      reader.close();
    }
  }
}

const MATCHED_SET = /--match-set (\S+)/g;

/** The sets of the mode, and those that rules of other programs look into. */
export function setsIn(tables: SavedTables, family: IpFamily): ReadonlySet<string> {
  return new Set([...serviceSets(family), ...matchedSets(tables)]);
}

/** Whether rules of the mode are in force: some match against its sets. */
export function matchesServiceSets(tables: SavedTables, family: IpFamily): boolean {
  const matched = new Set(matchedSets(tables));
  return serviceSets(family).some((name) => matched.has(name));
}

function serviceSets(family: IpFamily): readonly string[] {
  return SERVICE_SETS.map((set) => setName(set, family));
}

function matchedSets(tables: SavedTables): readonly string[] {
  return tables.flatMap(({ chains }) =>
    chains.flatMap(({ rules }) =>
      rules.flatMap((rule) => [...rule.matchAll(MATCHED_SET)].map(([, name]) => name!)),
    ),
  );
}

/**
 * Walks through what was read of the kernel. Virtual servers are read when a packet comes to them: to list all of them takes
 * a request for each.
 */
class KernelWalk implements Walk {
  constructor(
    private readonly read: Omit<IpvsInputs, 'server'>,
    private readonly open: () => Pick<IpvsReader, 'servers' | 'close'>,
  ) {}

  walk(packet: Packet, environment: PacketEnvironment): Promise<readonly PacketPath[]> {
    const servers = new OnDemand((id: VirtualServerId) => this.findServer(id), virtualServerKey);
    const inputs = { ...this.read, server: servers.find };
    return walkWithDevices(environment, (devices) => walkIpvs(inputs, packet, environment, devices), servers);
  }

  private async findServer(id: VirtualServerId): Promise<WalkedServer | undefined> {
    const reader = this.open();
    try {
      const found = await reader.servers.find(id);
      return found && { server: found, realServers: found.realServers };
    } finally {
      reader.close();
    }
  }
}

/** What is read of the kernel. */
interface IpvsReader {
  readonly tables: Pick<IptablesCommands, 'save'>;
  readonly sets: Pick<IpSets, 'read'>;
  readonly addresses: Pick<ServiceAddresses, 'list'>;
  readonly servers: Pick<VirtualServers, 'find'>;
  close(): void;
}
