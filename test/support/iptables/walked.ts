import { SavedRules } from '../../../src/diagnostics/domain/iptables/saved-rules.js';
import { walkTables, type TablesWalkOptions } from '../../../src/diagnostics/domain/iptables/tables-walk.js';
import type { Packet, PacketEnvironment, PacketPath } from '../../../src/diagnostics/domain/trace/trace.js';
import { parseSave } from './parse-save.js';

/** A node with one address, which receives the packet from a client that is not local. */
export const ARRIVING: Packet = {
  family: 'IPv4',
  inputInterface: 'eth0',
  source: '192.0.2.9',
  destination: '10.96.0.10',
  protocol: 'TCP',
  destinationPort: 80,
};
export const NODE: PacketEnvironment = { localAddresses: new Set(['198.51.100.1', '2001:db8::1']) };

const BUILT_IN: Readonly<Record<string, readonly string[]>> = {
  raw: ['PREROUTING', 'OUTPUT'],
  mangle: ['PREROUTING', 'INPUT', 'FORWARD', 'OUTPUT', 'POSTROUTING'],
  nat: ['PREROUTING', 'INPUT', 'OUTPUT', 'POSTROUTING'],
  filter: ['INPUT', 'FORWARD', 'OUTPUT'],
  security: ['INPUT', 'FORWARD', 'OUTPUT'],
};

/** Rules by table, each as `-A CHAIN …`; chains are made for them. A policy is written as `-P CHAIN DROP`. */
export type RulesByTable = Readonly<Record<string, readonly string[]>>;

/** What iptables-save would print of these rules. */
export function savedText(tables: RulesByTable): string {
  return Object.entries(tables)
    .map(([table, rules]) => {
      const builtIn = BUILT_IN[table]!;
      const named = rules.map((rule) => rule.split(' ')[1]!);
      const policyOf = (chain: string) => (rules.includes(`-P ${chain} DROP`) ? 'DROP' : 'ACCEPT');
      const chains = [...new Set([...builtIn, ...named])].map(
        (chain) => `:${chain} ${builtIn.includes(chain) ? policyOf(chain) : '-'} [0:0]`,
      );
      return [`*${table}`, ...chains, ...rules.filter((rule) => !rule.startsWith('-P')), 'COMMIT', ''].join(
        '\n',
      );
    })
    .join('');
}

/** What becomes of a packet in these rules, of which chains that begin with `KUBE-` are ours. */
export function walked(
  tables: RulesByTable,
  packet: Partial<Packet> = {},
  environment: Partial<PacketEnvironment> = {},
  options?: TablesWalkOptions,
): readonly PacketPath[] {
  const whole = { ...ARRIVING, ...packet };
  const saved = parseSave(savedText(tables), whole.family);
  const rules = new SavedRules(saved, (_table, chain) => chain.startsWith('KUBE-'));
  return walkTables(rules, whole, { ...NODE, ...environment }, options);
}
