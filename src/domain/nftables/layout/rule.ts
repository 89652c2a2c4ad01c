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
