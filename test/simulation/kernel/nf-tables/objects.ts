import { Refusal, type Attributes } from '../netlink/attributes.js';
import { E, NLM_F } from '../netlink/numbers.js';
import type { Request } from '../netlink/requests.js';
import type { SET_FLAG } from './numbers.js';

/* What nf_tables keeps. A transaction changes it in place and notes how to undo that. */

export interface Table {
  readonly family: number;
  readonly name: string;
  readonly handle: number;
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
  readonly userdata: Buffer | undefined;
  /** Milliseconds; 0 for none. */
  timeout: number;
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
  readonly value?: Buffer | undefined;
  readonly verdict?: Verdict | undefined;
  readonly flags: number;
  readonly userdata?: Buffer | undefined;
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
  uses: number;
}

/** Everything that nf_tables keeps, and which kernel it is. */
export interface Context {
  /** By `tableId`. */
  readonly tables: Map<string, Table>;
  /** Of `6.18` 618. */
  readonly release: number;
  lastTableHandle: number;
}

/** A message of a batch, or a question. */
export interface Message {
  readonly request: Request;
  /** The lower byte of its type. */
  readonly kind: number;
  readonly family: number;
  readonly attributes: Attributes;
}

/** @throws Refusal if it is shorter than struct nfgenmsg */
export function messageOf(request: Request): Message {
  const attributes = request.attributes(4);
  return { request, kind: request.type & 0xff, family: request.payload[0]!, attributes };
}

export function isFlagged(set: NftSet, flag: (typeof SET_FLAG)[keyof typeof SET_FLAG]): boolean {
  return (set.flags & flag) !== 0;
}

export function newTable(family: number, name: string): Table {
  return {
    ...{ family, name, handle: 0, userdata: undefined },
    ...{ chains: new Map(), sets: new Map(), counters: new Map() },
    ...{ lastHandle: 0, changedAt: 0, validation: 'skip' },
  };
}

/** The key of the map of tables. */
export function tableId(family: number, name: string): string {
  return `${family} ${name}`;
}

/** The table that a message is about. Every kind of message names it by the same attribute. @throws Refusal */
export function tableOf({ tables }: Context, { family, attributes }: Message): Table {
  return named({ get: (name) => tables.get(tableId(family, name)) }, attributes, 1);
}

/** What an attribute names. @throws Refusal: ENOENT if there is none, EINVAL without a name */
export function named<T>(
  all: { get(name: string): T | undefined },
  attributes: Attributes,
  attribute: number,
): T {
  const name = attributes.text(attribute);
  const found = name === undefined ? undefined : all.get(name);
  if (found === undefined)
    throw new Refusal(name === undefined ? E.EINVAL : E.ENOENT, attributes.at(attribute));
  return found;
}

/** What has this name, if it is there. @throws Refusal if it must be new */
export function present<T>(
  all: ReadonlyMap<string, T>,
  key: string,
  { attributes, request }: Message,
  attribute: number,
): T | undefined {
  const found = all.get(key);
  if (found && request.has(NLM_F.EXCL)) throw new Refusal(E.EEXIST, attributes.at(attribute));
  if (found && request.has(NLM_F.REPLACE)) throw new Refusal(E.EOPNOTSUPP);
  return found;
}

/** The one among them that has this handle. @throws Refusal (ENOENT) */
export function byHandle<T extends { readonly handle: number }>(
  all: Iterable<T>,
  attributes: Attributes,
  attribute: number,
): T {
  const handle = attributes.be64(attribute);
  for (const one of all) if (one.handle === handle) return one;
  throw new Refusal(E.ENOENT, attributes.at(attribute));
}

/** By its name, or else by the number that it has in the batch. */
export function findSet(
  table: Table,
  name: string | undefined,
  id?: number,
  numbered?: ReadonlyMap<number, NftSet>,
): NftSet | undefined {
  const found = name === undefined ? undefined : table.sets.get(name);
  if (found || id === undefined) return found;
  const its = numbered?.get(id);
  return its?.table === table ? its : undefined;
}
