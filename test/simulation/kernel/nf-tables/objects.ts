import type { SET_FLAG } from './numbers.js';

/* What nf_tables keeps. A transaction changes it in place and notes how to undo that. */

export interface Table {
  readonly family: number;
  readonly name: string;
  readonly handle: number;
  flags: number;
  /** The port of the socket that alone may change it. */
  owner: number | undefined;
  readonly userdata: Buffer | undefined;
  readonly chains: Map<string, Chain>;
  readonly sets: Map<string, NftSet>;
  readonly counters: Map<string, Counter>;
  lastHandle: number;
  /** The number of the last transaction that changed it. */
  changedAt: number;
  /** Whether what its hooks lead to must be looked at: not, at the end of a transaction, or after each message. */
  validation: 'skip' | 'at the end' | 'each time';
}

export interface BaseChain {
  readonly type: string;
  readonly hook: number;
  readonly priority: number;
  readonly policy: number;
}

export interface Chain {
  readonly table: Table;
  readonly name: string;
  readonly handle: number;
  /** Present for base chains. */
  base: BaseChain | undefined;
  readonly userdata: Buffer | undefined;
  /** Never changed in place. */
  rules: readonly Rule[];
  /** How many jumps lead to it, of rules and elements. */
  jumps: number;
}

export interface Rule {
  readonly chain: Chain;
  readonly handle: number;
  readonly expressions: readonly Expression[];
  /** What a dump has of the expressions: the value of NFTA_RULE_EXPRESSIONS. */
  readonly dumped: Buffer;
  readonly userdata: Buffer | undefined;
}

/** What an expression refers to, and where it must not be. */
export interface Expression {
  readonly name: string;
  /** Where it jumps or goes to. */
  readonly target?: Chain;
  /** The set that it looks into or adds to, and how that set knows of it. */
  readonly set?: NftSet;
  readonly binding?: Binding;
  readonly counter?: Counter;
  /** Whether it may be reached from this base chain. */
  readonly isAllowedIn?: (base: BaseChain) => boolean;
}

export interface NftSet {
  readonly table: Table;
  readonly name: string;
  readonly handle: number;
  /** Of SET_FLAG. */
  readonly flags: number;
  readonly keyType: number;
  readonly keyLength: number;
  readonly dataType: number;
  readonly dataLength: number;
  readonly objectType: number;
  readonly policy: number;
  readonly fields: readonly number[];
  readonly userdata: Buffer | undefined;
  /** The value of NFTA_SET_EXPRESSIONS, or of NFTA_SET_EXPR. */
  readonly expressions: { readonly type: number; readonly bytes: Buffer } | undefined;
  /** Milliseconds; 0 for none. */
  timeout: number;
  readonly gcInterval: number;
  /** Whether rules can add to it: the kernel takes another kind of table for sets whose size is given at the beginning. */
  readonly growsWithRules: boolean;
  /** The most elements; 0 for any number. */
  size: number;
  /** By key, and for the ends of ranges, by key and a mark. */
  readonly elements: Map<string, Element>;
  /** By the rules that look into it. */
  readonly bindings: Set<Binding>;
  /** How many elements lead to a chain. */
  readonly targets: Map<Chain, number>;
}

export interface Binding {
  readonly chain: Chain;
  readonly isMapped: boolean;
}

export interface Verdict {
  readonly code: number;
  readonly chain?: Chain;
}

export interface Element {
  /** Of the map of elements. */
  readonly id: string;
  readonly key: Buffer | undefined;
  readonly keyEnd: Buffer | undefined;
  readonly value: Buffer | undefined;
  readonly verdict: Verdict | undefined;
  readonly counter: Counter | undefined;
  readonly flags: number;
  readonly userdata: Buffer | undefined;
  readonly expressions: { readonly type: number; readonly bytes: Buffer } | undefined;
  /** Milliseconds; 0 for none. */
  timeout: number;
  /** The time at which it is gone, in milliseconds; Infinity for never. */
  expires: number;
  /** How it is listed, once it was, if that never changes. */
  listed?: Buffer;
}

/** A named counter. */
export interface Counter {
  readonly table: Table;
  readonly name: string;
  readonly handle: number;
  readonly userdata: Buffer | undefined;
  readonly bytes: number;
  readonly packets: number;
  uses: number;
}

export function isFlagged(set: NftSet, flag: (typeof SET_FLAG)[keyof typeof SET_FLAG]): boolean {
  return (set.flags & flag) !== 0;
}

/** How many elements count for its size: not the one that stands for all other keys, whose key is empty. */
export function sizeOf({ elements }: NftSet): number {
  return elements.has('') ? elements.size - 1 : elements.size;
}

export function emptyTable(family: number, name: string): Table {
  return {
    ...{ family, name, handle: 0, flags: 0, owner: undefined, userdata: undefined },
    ...{ chains: new Map(), sets: new Map(), counters: new Map() },
    ...{ lastHandle: 0, changedAt: 0, validation: 'skip' },
  };
}

/** The key of the map of tables. */
export function tableId(family: number, name: string): string {
  return `${family} ${name}`;
}
