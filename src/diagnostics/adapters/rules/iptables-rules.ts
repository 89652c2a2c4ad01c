/** The rules of iptables mode and of userspace mode: planned as text, and followed by packets as desired or as iptables-save prints them. */

import type { Tracer } from '../../application/ports/tracer.js';
import type { Walk } from '../../domain/walk/desired-walk.js';
import { tablesSide } from '../../domain/compare/tables-side.js';
import { type Side, ComparisonError } from '../../domain/compare/side.js';
import type { ForwardingEntry } from '../../../domain/forwarding/forwarding-entry.js';
import type { NodeNetwork } from '../../../domain/forwarding/node-network.js';
import type { IptablesHost } from '../../../domain/iptables/options.js';
import type { SavedTables } from '../../../domain/iptables/saved-tables.js';
import { desiredIptables, desiredRules } from '../../domain/iptables/desired-rules.js';
import { walkWithDevices } from '../../domain/walk/on-demand.js';
import { SavedRules, type OwnChains } from '../../domain/iptables/saved-rules.js';
import { walkTables } from '../../domain/iptables/tables-walk.js';
import { FIREWALL, isServiceChain } from '../../../domain/iptables/chain-names.js';
import { IPTABLES_OWNED_CHAINS, isOwned } from '../../../adapters/iptables/owned-chains.js';
import {
  USERSPACE_BASE_RULES,
  type ProxyAddress,
  NODEPORT_CONTAINER,
  PORTALS_CONTAINER,
} from '../../../domain/userspace/portals.js';
import type { ProxyPorts } from '../../../domain/userspace/proxied-port.js';
import { desiredUserspace, walkProxied } from '../../domain/userspace-walk.js';
import type { DesiredTables } from '../../../domain/iptables/desired-state.js';
import { program } from '../../../adapters/iptables/variants.js';
import { tablesDifference } from '../../../adapters/iptables/tables-difference.js';

/** The rules of iptables mode. Tables in nftables that are not iptables' own are not seen. */
export class IptablesTracer implements Tracer {
  /**
   * @param readHost what the rules depend on
   * @param readTables all tables of the family, as iptables-save prints them; rejects with an ToolError
   */
  constructor(
    private readonly readHost: () => Promise<IptablesHost>,
    private readonly readTables: (signal?: AbortSignal) => Promise<SavedTables>,
  ) {}

  /** The input of one iptables-restore, or of ip6tables-restore, as its first line says. */
  async plan(entries: Iterable<ForwardingEntry>, node: NodeNetwork): Promise<string> {
    const tables = desiredIptables([...entries], node, await this.readHost());
    return restoreText(tables, node, isServiceChain);
  }

  async desired(entries: readonly ForwardingEntry[], node: NodeNetwork, isLarge?: boolean): Promise<Side> {
    return tablesSide(desiredRules(desiredIptables(entries, node, await this.readHost(), isLarge)));
  }

  async actual(signal?: AbortSignal): Promise<Walk> {
    const rules = new SavedRules(await this.readTables(signal), isIptablesChain);
    return {
      walk: (packet, environment) =>
        walkWithDevices(environment, (devices) => walkTables(rules, packet, environment, { devices })),
    };
  }
}

/** Tables as the input of iptables-restore, under a line with its name. */
export function restoreText(
  tables: DesiredTables,
  { family }: NodeNetwork,
  isServiceChain: (chain: string) => boolean,
): string {
  const { repair } = tablesDifference(tables, [], { chainsPerCommit: Infinity, isServiceChain });
  return `# ${program('iptables', family, 'restore')} --noflush\n${[...repair].join('')}`;
}

/** The chains of iptables mode, with the one that is the kubelet's too. */
export const isIptablesChain: OwnChains = (table, chain) =>
  isOwned(IPTABLES_OWNED_CHAINS, table, chain) || chain === FIREWALL;

/** Those of a process that does not serve. */
export const NO_PROXY_PORTS: ProxyPorts = { proxiedAt: () => undefined, proxyPortOf: () => undefined };

/** The rules of userspace mode. Only the process that has a proxy port knows its Service. */
export class UserspaceTracer implements Tracer {
  /**
   * @param readAddress where the sockets are, or would be
   * @param readTables all tables of the family, as iptables-save prints them; rejects with an ToolError
   */
  constructor(
    private readonly ports: ProxyPorts,
    private readonly readAddress: () => Promise<ProxyAddress>,
    private readonly readTables: (signal?: AbortSignal) => Promise<SavedTables>,
  ) {}

  async desired(entries: Iterable<ForwardingEntry>): Promise<Walk> {
    return desiredUserspace(entries, await this.readAddress(), this.ports.proxyPortOf);
  }

  async actual(signal?: AbortSignal): Promise<Walk> {
    const rules = new SavedRules(await this.readTables(signal), isPortalChain);
    return {
      walk: (packet, environment) =>
        walkWithDevices(environment, (devices) =>
          walkProxied(rules, this.ports.proxiedAt, packet, environment, devices),
        ),
    };
  }
}

const isPortalChain: OwnChains = (table, chain) =>
  USERSPACE_BASE_RULES.shared.some((portal) => portal.table === table && portal.name === chain);

const PORTALS: ReadonlySet<string> = new Set([PORTALS_CONTAINER, NODEPORT_CONTAINER]);

/**
 * The tables of a node, whichever proxy wrote them.
 * @param side whose tables these are, for people
 * @throws ComparisonError where a process decides about connections
 */
export function savedRules(tables: SavedTables, side: string): SavedRules {
  const hasPortals = tables.some(({ chains }) =>
    chains.some(({ name, rules }) => PORTALS.has(name) && rules.length > 0),
  );
  if (hasPortals) throw ComparisonError.userspace(side);
  return new SavedRules(tables, (_, chain) => chain.startsWith('KUBE-'));
}
