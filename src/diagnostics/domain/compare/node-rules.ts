import { fields, list, number, text, word } from '../../../domain/shape.js';
import type { IpFamily } from '../../../domain/net/ip-family.js';

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

/** The rules that any service proxy has left on a node, and what decides which mode can run there. */
export type NodeRules = ReturnType<typeof nodeRules>;
export const nodeRules = fields({
  /** Release of the kernel. */
  kernel: text,
  /** The variant and version of iptables, or why there is none. */
  iptables: text,
  rules: list(foundRules),
  /** Schedulers of the virtual servers that are there. */
  schedulers: list(text),
  /** What could not be read, and why. */
  unread: list(text),
});
