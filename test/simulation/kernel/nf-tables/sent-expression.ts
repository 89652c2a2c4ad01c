import { Refusal, type Attributes } from '../netlink/attributes.js';
import { E, NLA } from '../netlink/numbers.js';
import { DATA, MAX_VALUE_LENGTH, SET_FLAG, VERDICT, VERDICT_CODE } from './numbers.js';
import {
  findSet,
  isFlagged,
  named,
  type Binding,
  type Chain,
  type Context,
  type NftSet,
  type Table,
  type Verdict,
} from './objects.js';
import { lookForCircle } from './reach.js';
import type { Transaction } from './transaction.js';

/** Slots of four bytes: four for the verdict, and those that rules use. */
export const SLOTS = 20;
const [FIRST_SLOT, FIRST_SMALL, LAST_SMALL] = [4, 8, 23];

/** The rule that an expression is of: the registers that it has filled, and what it may refer to. */
interface SentRule {
  readonly filled: boolean[];
  readonly context: Context;
  readonly transaction: Transaction;
  readonly chain: Chain;
}

/** The verdict that data is. @throws Refusal if it is none, or leads to a chain that it cannot lead to */
export function verdictIn(table: Table, data: Attributes): Verdict {
  if (data.has(DATA.VALUE)) throw new Refusal(E.EINVAL);
  const nest = data.nested(DATA.VERDICT);
  const code = (nest?.be32(VERDICT.CODE) ?? NaN) | 0;
  if (!nest?.has(VERDICT.CODE) || !Object.values<number>(VERDICT_CODE).includes(code))
    throw new Refusal(E.EINVAL);
  if (code !== VERDICT_CODE.JUMP && code !== VERDICT_CODE.GOTO) return { code };
  const chain = named(table.chains, nest, VERDICT.CHAIN);
  if (chain.base) throw new Refusal(E.EOPNOTSUPP);
  return { code, chain };
}

/** @throws Refusal unless it is a value, of this length if one is given */
export function valueIn(data: Attributes | undefined, length?: number): Buffer {
  const value = data?.value(DATA.VALUE);
  if (!value || value.length === 0) throw new Refusal(E.EINVAL);
  if (value.length > MAX_VALUE_LENGTH) throw new Refusal(E.EOVERFLOW);
  if (length !== undefined && value.length !== length) throw new Refusal(E.EINVAL);
  return value;
}

/** An expression of a rule: its attributes as they were sent, and then as they will be listed. */
export class Sent {
  /** By their numbers, in the order in which they are listed. */
  readonly listed = new Map<number, Buffer>();

  constructor(
    private readonly attributes: Attributes | undefined,
    readonly rule: SentRule,
  ) {}

  get table(): Table {
    return this.rule.chain.table;
  }

  has(type: number): boolean {
    return this.attributes?.has(type) ?? false;
  }

  /** @throws Refusal (EINVAL) unless all of them were sent */
  need(...types: readonly number[]): void {
    if (!types.every((type) => this.has(type))) throw new Refusal(E.EINVAL);
  }

  number(type: number): number {
    return this.attributes?.be32(type) ?? 0;
  }

  /** A number that is to be listed as it was sent. */
  keep(type: number): number {
    const value = this.number(type);
    this.list(type, value);
    return value;
  }

  /** The same for one that has only eight bits. @throws Refusal (ERANGE) */
  keepSmall(type: number): number {
    const value = this.keep(type);
    if (value > 0xff) throw new Refusal(E.ERANGE);
    return value;
  }

  /** Bytes that are to be listed as they were sent. */
  keepBytes(type: number, otherwise?: Buffer): void {
    const value = this.attributes?.value(type) ?? otherwise;
    if (value) this.listed.set(type, Buffer.from(value));
  }

  list(type: number, value: number): void {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32BE(value >>> 0);
    this.listed.set(type, bytes);
  }

  /** Reads from a register. Kernels from 6.13 on refuse to read what no expression of the rule has written. */
  load(type: number, length: number, listedAs = type): void {
    const [slot, end] = slots(this.number(type), length);
    const { filled, context } = this.rule;
    if (context.release >= 613 && filled.slice(slot, end).includes(false)) throw new Refusal(E.ENODATA);
    this.list(listedAs, listedRegister(slot));
  }

  /** Writes to a register. */
  store(type: number, length: number): void {
    const [slot, end] = slots(this.number(type), length);
    this.rule.filled.fill(true, slot, end);
    this.list(type, listedRegister(slot));
  }

  /** A value, of this length if one is given; returns the length. @throws Refusal */
  value(type: number, length?: number): number {
    const value = valueIn(this.attributes?.nested(type), length);
    this.keepData(type);
    return value.length;
  }

  verdict(type: number): Verdict {
    const verdict = verdictIn(this.table, this.attributes!.nested(type)!);
    this.keepData(type);
    return verdict;
  }

  /** The set that is named, by its number in the batch if the name is not known yet. */
  set(nameType: number, idType: number): NftSet {
    const { attributes, rule } = this;
    const set = findSet(
      this.table,
      attributes?.text(nameType),
      attributes?.be32(idType),
      rule.transaction.sets,
    );
    if (!set) throw new Refusal(E.ENOENT);
    this.listed.set(nameType, Buffer.from(`${set.name}\0`, 'latin1'));
    return set;
  }

  text(type: number): string {
    return this.attributes?.text(type) ?? '';
  }

  bind(set: NftSet, isMapped: boolean): Binding {
    const { transaction, chain, context } = this.rule;
    if (set.bindings.size > 0 && isFlagged(set, SET_FLAG.ANONYMOUS)) throw new Refusal(E.EBUSY);
    if (isMapped) for (const target of set.targets.keys()) lookForCircle(context, chain, target);
    const binding: Binding = { chain, isMapped };
    transaction.bind(set, binding);
    return binding;
  }

  /** A value or a verdict, which the kernel lists without saying that attributes are in it. */
  private keepData(type: number): void {
    const data = Buffer.from(this.attributes!.value(type)!);
    data.writeUInt16LE(data.readUInt16LE(2) & NLA.TYPE_MASK, 2);
    this.listed.set(type, data);
  }
}

/** The slots that so many bytes take from a register on. @throws Refusal */
function slots(register: number, length: number): readonly [number, number] {
  const isSmall = register >= FIRST_SMALL && register <= LAST_SMALL;
  if (register > 4 && !isSmall) throw new Refusal(E.ERANGE);
  const slot = isSmall ? FIRST_SLOT + register - FIRST_SMALL : register * 4;
  if (slot < FIRST_SLOT || length === 0) throw new Refusal(E.EINVAL);
  if (slot * 4 + length > SLOTS * 4) throw new Refusal(E.ERANGE);
  return [slot, slot + Math.ceil(length / 4)];
}

/** The number by which the kernel lists a register: that of a large one where it begins. */
function listedRegister(slot: number): number {
  return slot % 4 === 0 ? slot / 4 : FIRST_SMALL + slot - FIRST_SLOT;
}
