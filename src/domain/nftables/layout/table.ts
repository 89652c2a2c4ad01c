/** The terms in which the table is described: sets, elements, chains, rules and operations. */

import type { IpFamily } from '../../net/ip-family.js';
import type { KernelHook, KernelRule } from '../kernel/ruleset.js';

/** The table has kube-proxy's name, so that taking over, and going back, is one transaction (docs/internals/spec/nftables.md §1). */
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

/** All of ours accept what no rule decides about. */
export type Hook = Omit<KernelHook, 'policy'>;

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
  | { readonly op: 'add-rule'; readonly chain: string; readonly rule: KernelRule }
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
