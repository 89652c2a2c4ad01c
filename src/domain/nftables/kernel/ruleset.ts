import type { Expression, KernelVerdict } from './expression.js';

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
