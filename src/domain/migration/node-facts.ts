import { fields, list, number, optional, text, word } from '../shapes/shape.js';
import type { IpFamily } from '../net/ip-family.js';
import type { SideMode } from '../compare/side.js';

/** Where rules of a service proxy may be. */
export type RulesPlace = 'iptables-nft' | 'iptables-legacy' | 'nftables' | 'ipvs';

/** What the kernel has of any service proxy in one place. */
export type FoundRules = ReturnType<typeof foundRules>;
const foundRules = fields({
  place: word<RulesPlace>(),
  family: word<IpFamily>(),
  /** Chains of iptables or of the table `kube-proxy`, or virtual servers. */
  count: number,
});

/** What a node is, as far as it decides which mode can run there, and what is left there of others. */
export type NodeFacts = ReturnType<typeof nodeFacts>;
export const nodeFacts = fields({
  /** Release of the kernel. */
  kernel: text,
  /** The variant and version of iptables, or why there is none. */
  iptables: text,
  rules: list(foundRules),
  /** Schedulers of the virtual servers that are there. */
  schedulers: list(text),
  /** What could not be looked for, and why. */
  unseen: list(text),
  /** Why the mode that was asked about cannot run here. */
  obstacle: optional(text),
});

const UNITS: Readonly<Record<RulesPlace, string>> = {
  'iptables-nft': 'chains of iptables-nft',
  'iptables-legacy': 'chains of iptables-legacy',
  nftables: 'chains of the table kube-proxy',
  ipvs: 'virtual servers',
};

/** Rules that are not of the mode in force, for people. Mode ipvs has some in iptables. */
export function leftovers({ rules, iptables }: NodeFacts, mode: SideMode): readonly string[] {
  const variant = /^legacy\b/.test(iptables) ? 'iptables-legacy' : 'iptables-nft';
  const own: readonly RulesPlace[] = {
    iptables: [variant] as const,
    ipvs: ['ipvs', variant] as const,
    nftables: ['nftables'] as const,
  }[mode];
  const counts = new Map<RulesPlace, number>();
  for (const { place, count } of rules)
    if (!own.includes(place) && count > 0) counts.set(place, (counts.get(place) ?? 0) + count);
  return [...counts].map(([place, count]) => `${count} ${UNITS[place]}`);
}
