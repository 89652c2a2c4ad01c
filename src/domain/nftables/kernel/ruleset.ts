import type { IpFamily } from '../../net/ip-family.js';

/** Everything in nf_tables that packets of one IP family meet, of all programs. */
export interface KernelRuleset {
  readonly tables: readonly KernelTable[];
  /** The devices, by their names. */
  readonly deviceNumbers: ReadonlyMap<string, number>;
}

export interface KernelTable {
  readonly family: 'ip' | 'ip6' | 'inet';
  readonly name: string;
  /** Tables that were made later have larger numbers. */
  readonly number: number;
  readonly chains: ReadonlyMap<string, KernelChain>;
  readonly sets: ReadonlyMap<string, KernelSet>;
}

export interface KernelChain {
  readonly name: string;
  /** Chains that were made later have larger numbers, within their table. */
  readonly number: number;
  /** Present for base chains. */
  readonly hook?: KernelHook;
  /** Its name is not its own: it belongs to the rule that leads to it. */
  readonly isAnonymous?: true;
  readonly rules: readonly KernelRule[];
}

export interface KernelHook {
  readonly type: string;
  readonly hook: 'prerouting' | 'input' | 'forward' | 'output' | 'postrouting';
  readonly priority: number;
  readonly policy: 'accept' | 'drop';
}

export interface KernelRule {
  readonly expressions: readonly Expression[];
  readonly comment?: string;
}

/** A set or map, without its elements, which may be very many. */
export interface KernelSet {
  readonly name: string;
  /** Bytes. */
  readonly keyLength: number;
  /** How long its elements stay, where the rule that adds them does not say. Missing: for good. */
  readonly timeoutSeconds?: number;
  /** Its elements are ranges; of concatenations, a range for each field, whose lengths in bytes these are. */
  readonly ranges?: 'single' | readonly number[];
}

export interface KernelElement {
  /** Missing for the one that stands for all other keys. */
  readonly key?: Uint8Array;
  /** The last key of a range of concatenated fields. */
  readonly lastKey?: Uint8Array;
  /** Ranges of single fields are two elements; this is the first key behind one. */
  readonly isEnd?: true;
  /** Of maps. */
  readonly value?: Uint8Array;
  /** Of verdict maps. */
  readonly verdict?: KernelVerdict;
  readonly comment?: string;
}

/**
 * Expressions of nf_tables: of rules of ours, which are written, printed, compared and followed as such, and of all rules that are read. They
 * read and write registers: 64 bytes, of which each names a part by its first byte. Values that the kernel computes are in its own byte
 * order, those of packets in the network's. Fields that a trace does not need are missing where rules come from a text.
 */
export type Expression =
  | {
      readonly kind: 'payload';
      readonly to: number;
      readonly base: 'network' | 'transport';
      readonly offset: number;
      readonly length: number;
    }
  | { readonly kind: 'meta'; readonly to: number; readonly key: MetaKey }
  | { readonly kind: 'meta-set'; readonly from: number; readonly key: 'mark' | 'priority' }
  | { readonly kind: 'ct'; readonly to: number; readonly key: CtKey }
  | {
      readonly kind: 'fib';
      readonly to: number;
      readonly field: 'saddr' | 'daddr';
      readonly result: 'type' | 'exists';
      /** Flags of the kernel for what else the route depends on. */
      readonly others?: number;
    }
  | { readonly kind: 'cmp'; readonly from: number; readonly op: CompareOperator; readonly value: Uint8Array }
  | {
      readonly kind: 'range';
      readonly from: number;
      readonly inverted: boolean;
      readonly first: Uint8Array;
      readonly last: Uint8Array;
    }
  | {
      readonly kind: 'bitwise';
      readonly from: number;
      readonly to: number;
      readonly mask: Uint8Array;
      readonly xor: Uint8Array;
    }
  | {
      readonly kind: 'byteorder';
      readonly from: number;
      readonly to: number;
      readonly length: number;
      readonly size: number;
    }
  | {
      readonly kind: 'lookup';
      readonly set: string;
      readonly from: number;
      /** Where the value goes; a verdict is applied. Missing: only whether there is an element counts. */
      readonly to?: number | 'verdict';
      readonly inverted: boolean;
    }
  /** Adds or refreshes an element. */
  | {
      readonly kind: 'remember';
      readonly set: string;
      readonly from: number;
      /** 0 for none. */
      readonly timeoutSeconds: number;
      /** The kernel's number: 1 to restart the timeout of an element that is there. */
      readonly op?: number;
    }
  /** An unpredictable number: `numgen`, `symhash`, a hash whose seed the kernel keeps to itself. */
  | {
      readonly kind: 'random';
      readonly to: number;
      readonly modulus: number;
      readonly offset: number;
      /** One number after another. */
      readonly inTurn?: true;
      /** Missing: `numgen`. */
      readonly by?: 'hash';
    }
  /** `jhash`: a number by the bytes from a register on. */
  | {
      readonly kind: 'hash';
      readonly from: number;
      readonly length: number;
      readonly to: number;
      readonly modulus: number;
      readonly offset: number;
      readonly seed: number;
    }
  | { readonly kind: 'immediate'; readonly to: number; readonly value: Uint8Array }
  | { readonly kind: 'verdict'; readonly verdict: KernelVerdict }
  | {
      readonly kind: 'nat';
      readonly type: 'snat' | 'dnat';
      /** Of the addresses, where it is known. */
      readonly family?: IpFamily;
      /** Registers of the address and the port, and of the last ones of their ranges. */
      readonly address?: number;
      readonly lastAddress?: number;
      readonly port?: number;
      readonly lastPort?: number;
      readonly flags?: number;
    }
  | { readonly kind: 'masquerade'; readonly fullyRandom: boolean }
  /** Numbers of the kernel: how, and the ICMP code. */
  | { readonly kind: 'reject'; readonly type?: number; readonly code?: number }
  /** Counts the packet by a named counter. */
  | { readonly kind: 'count'; readonly counter: string }
  /** It lets the first packet of a connection continue to the next expression, and has no other effect: a counter, a log. */
  | { readonly kind: 'indifferent'; readonly name: string }
  /** The first packet of a connection does not exceed a limit. */
  | { readonly kind: 'limit'; readonly inverted: boolean }
  | { readonly kind: 'unknown'; readonly name: string };

export type CompareOperator = '==' | '!=' | '<' | '<=' | '>' | '>=';

export type MetaKey =
  | 'protocol'
  | 'priority'
  | 'mark'
  | 'iif'
  | 'oif'
  | 'iifname'
  | 'oifname'
  | 'nfproto'
  | 'l4proto';

export type CtKey =
  | 'state'
  | 'direction'
  | 'status'
  | 'mark'
  | 'original saddr'
  | 'original daddr'
  | 'original protocol'
  | 'original dport';

export interface KernelVerdict {
  readonly code: 'drop' | 'accept' | 'return' | 'continue' | 'jump' | 'goto' | 'queue';
  /** Of jumps. */
  readonly chain?: string;
}

/** Whether the expression may decide about the packet, if only by leading it on. */
export function isEffective({ kind }: Expression): boolean {
  return ['verdict', 'nat', 'masquerade', 'reject', 'meta-set', 'lookup', 'unknown'].includes(kind);
}
