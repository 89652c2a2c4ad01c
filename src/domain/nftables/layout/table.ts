/** The terms in which the table is described: sets, elements, chains, rules and operations. */

import type { IpFamily } from '../../net/ip-family.js';

/** The table has kube-proxy's name, so that taking over, and going back, is one transaction (docs/spec/nftables.md §1). */
export const TABLE_NAME = 'kube-proxy';

/** nft's name of the family. */
export function nftFamily(family: IpFamily): 'ip' | 'ip6' {
  return family === 'IPv4' ? 'ip' : 'ip6';
}

/** The type of a component of a set's key or a map's value. `priority` is nft's classid, `slot` a number that a rule draws. */
export type DataType = 'address' | 'protocol' | 'port' | 'priority' | 'slot';

export interface SetDefinition {
  readonly name: string;
  readonly key: readonly DataType[];
  /** Present for maps. */
  readonly value?: 'verdict' | readonly DataType[];
  /** Filled by packets (`flags dynamic,timeout`), with at most this many elements. */
  readonly dynamicSize?: number;
  readonly comment?: string;
}

/**
 * One element. Key and value are nft's own text, canonical: components joined by ` . `, addresses canonical, protocols
 * by name, numbers decimal, priorities as formatPriority prints them, verdicts as `goto chain`.
 */
export interface SetElement {
  readonly key: string;
  readonly value?: string;
  readonly comment?: string;
  /**
   * Of all rules that belong to this element's frontend (digest.ts). The kernel stores it beside the comment. Undefined where
   * it is not stored, or not read back.
   */
  readonly digest?: number;
  /** Another program has given it expressions, which may keep packets from it. Only of an element that was read. */
  readonly hasMore?: true;
}

export interface Hook {
  readonly type: 'filter' | 'nat';
  readonly hook: 'prerouting' | 'input' | 'forward' | 'output' | 'postrouting';
  readonly priority: number;
}

export interface ChainDefinition {
  readonly name: string;
  /** Present for base chains. */
  readonly hook?: Hook;
}

/** One step of a transaction on the table. A transaction applies all its steps in order, or none. */
export type Operation =
  | { readonly op: 'add-table'; readonly comment: string }
  | { readonly op: 'delete-table' }
  | { readonly op: 'add-chain'; readonly chain: ChainDefinition }
  | { readonly op: 'flush-chain'; readonly chain: string }
  | { readonly op: 'delete-chain'; readonly chain: string }
  | { readonly op: 'add-rule'; readonly chain: string; readonly rule: Rule }
  /** A named counter that is there already keeps what it has counted. */
  | { readonly op: 'add-counter'; readonly counter: string }
  | { readonly op: 'delete-counter'; readonly counter: string }
  | { readonly op: 'add-set'; readonly set: SetDefinition }
  | { readonly op: 'delete-set'; readonly set: SetDefinition }
  | { readonly op: 'add-elements'; readonly set: SetDefinition; readonly elements: readonly SetElement[] }
  | { readonly op: 'delete-elements'; readonly set: SetDefinition; readonly elements: readonly SetElement[] };

/** Offsets of the addresses in the network header, which rules load by them. */
export const ADDRESSES = { IPv4: { saddr: 12, daddr: 16 }, IPv6: { saddr: 8, daddr: 24 } } as const;

/**
 * The rules that the nftables backend writes, as plain values. They are sent as netlink expressions, and printed as
 * what these mean. Only what the backend needs is here.
 */

/** One component of a lookup key, read from the packet. */
export type KeyField =
  | { readonly field: 'saddr'; /** Only the first bits count. */ readonly prefixLength?: number }
  | { readonly field: 'daddr' }
  | { readonly field: 'l4proto' }
  | { readonly field: 'sport' }
  | { readonly field: 'dport' }
  | { readonly field: 'priority' }
  /** Only behind one other field. */
  | ({ readonly field: 'draw' } & DrawnNumber);

export type Key = readonly KeyField[];

/** A number from [offset, offset + modulus). */
export interface DrawnNumber {
  readonly modulus: number;
  readonly offset: number;
  /**
   * Missing: a random one, all equally likely (`numgen random mod M offset O`). `turn`: one after another, by a counter of the rule
   * (`numgen inc`). A key: by its hash with this seed, the same on every node (`jhash … mod M seed S`).
   */
  readonly by?: 'turn' | { readonly key: Key; readonly seed: number };
}

export type Comparison = '==' | '!=';

/**
 * One statement of a rule. Statements run in order; a comparison or lookup that fails ends the rule and the packet
 * continues with the next one. "Priority" is the packet's queueing priority (skb->priority), which serves as a register
 * between two lookups and is cleared again before the packet leaves. A `bit` of the packet's mark is an index: 0, the
 * lowest, to 31.
 */
export type Statement =
  | {
      readonly kind: 'address';
      readonly field: 'saddr' | 'daddr';
      readonly is: Comparison;
      /** `a/n`, or one address. */ readonly network: string;
    }
  | {
      readonly kind: 'input-interface';
      readonly is: Comparison;
      readonly name: string;
      /** Name is a prefix, of at least one character: `veth*`. */ readonly wildcard: boolean;
    }
  | { readonly kind: 'dport'; readonly is: Comparison; readonly port: number }
  /** The address belongs to this host: `fib saddr type local`. */
  | { readonly kind: 'local-address'; readonly field: 'saddr' | 'daddr' }
  | { readonly kind: 'new-connection' }
  /** The connection's destination was translated: `ct status dnat`. */
  | { readonly kind: 'translated' }
  | { readonly kind: 'member'; readonly key: Key; readonly set: string; readonly is: Comparison }
  | { readonly kind: 'verdict-map'; readonly key: Key; readonly map: string }
  | {
      readonly kind: 'set-priority';
      readonly to: 'none' | DrawnNumber | { readonly key: Key; readonly map: string };
    }
  | { readonly kind: 'priority-at-least'; readonly value: number }
  | { readonly kind: 'mark-has'; readonly bit: number }
  | { readonly kind: 'mark-set'; readonly bit: number }
  | { readonly kind: 'mark-flip'; readonly bit: number }
  /** Adds the key to a dynamic set, or restarts its timeout. Fails (and ends the rule) when the set is full. */
  | { readonly kind: 'remember'; readonly key: Key; readonly set: string; readonly timeoutSeconds: number }
  /** Translates the destination to the address and port that the map holds for the key. Ends the walk. */
  | { readonly kind: 'dnat'; readonly key: Key; readonly map: string }
  /** `masquerade fully-random`. Ends the walk. */
  | { readonly kind: 'masquerade' }
  /** Counts the packet, by the named counter. */
  | { readonly kind: 'count'; readonly counter: string }
  /** ICMP (or ICMPv6) port unreachable. */
  | { readonly kind: 'reject' }
  | { readonly kind: 'drop' }
  | { readonly kind: 'return' }
  | { readonly kind: 'jump'; readonly chain: string }
  | { readonly kind: 'goto'; readonly chain: string };

export interface Rule {
  readonly statements: readonly Statement[];
  readonly comment?: string;
}

/**
 * Text of a packet priority as nft prints its type classid: `major:minor` in hex, `none` for 0, `root` for all ones.
 * Both numbers are always written: nft reads neither `:3` nor `4:`.
 */
export function formatPriority(value: number): string {
  if (value === 0) return 'none';
  if (value === 0xffffffff) return 'root';
  const major = value >>> 16;
  const minor = value & 0xffff;
  return `${major.toString(16)}:${minor.toString(16)}`;
}

/** The number of a text by formatPriority. */
export function parsePriority(text: string): number {
  if (text === 'none') return 0;
  if (text === 'root') return 0xffffffff;
  const [major, minor] = text.split(':') as [string, string];
  return parseInt(major, 16) * 0x10000 + parseInt(minor, 16);
}
