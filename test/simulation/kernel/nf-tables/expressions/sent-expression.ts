import { E, NLA } from '../../netlink/numbers.js';
import type { Attributes } from '../../netlink/attributes.js';
import { Refusal } from '../../netlink/attributes.js';
import { findSet, type Context } from '../context.js';
import { DATA, MAX_VALUE_LENGTH } from '../numbers.js';
import type { Chain, NftSet, Verdict } from '../objects.js';
import type { Transaction } from '../changes/transaction.js';
import { verdictIn } from '../changes/verdicts.js';
import { listedRegister, type Registers } from './registers.js';

/** EOVERFLOW of errno.h. */
const EOVERFLOW = 75;
const MAX_U8 = 255;

/** An expression of a rule that is being added: its attributes as they were sent, and then as they will be listed. */
export class SentExpression {
  /** By their numbers, in the order in which they are listed. */
  readonly listed = new Map<number, Buffer>();

  constructor(
    private readonly attributes: Attributes | undefined,
    readonly registers: Registers,
    readonly context: Context,
    readonly transaction: Transaction,
    readonly chain: Chain,
  ) {}

  has(type: number): boolean {
    return this.attributes?.has(type) ?? false;
  }

  /** @throws Refusal (E.EINVAL) unless all of them were sent */
  need(...types: readonly number[]): void {
    if (!types.every((type) => this.has(type))) throw new Refusal(E.EINVAL);
  }

  be32(type: number): number | undefined {
    return this.attributes?.be32(type);
  }

  /** A number that is to be listed as it was sent. */
  keep(type: number): number {
    const value = this.be32(type) ?? 0;
    this.list(type, value);
    return value;
  }

  /** The same for one that has only eight bits. @throws Refusal (E.ERANGE) */
  keepSmall(type: number): number {
    const value = this.keep(type);
    if (value > MAX_U8) throw new Refusal(E.ERANGE);
    return value;
  }

  /** Bytes that are to be listed as they were sent. */
  keepBytes(type: number): Buffer | undefined {
    const value = this.attributes?.value(type);
    if (value) this.listed.set(type, Buffer.from(value));
    return value;
  }

  /** A value or a verdict, which the kernel lists without saying that attributes are in it. */
  private keepData(type: number): void {
    const data = Buffer.from(this.attributes!.value(type)!);
    data.writeUInt16LE(data.readUInt16LE(2) & NLA.TYPE_MASK, 2);
    this.listed.set(type, data);
  }

  keepAll(): void {
    for (let type = 1; type < 64; type++) this.keepBytes(type);
  }

  list(type: number, value: number): void {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32BE(value >>> 0);
    this.listed.set(type, bytes);
  }

  listText(type: number, value: string): void {
    this.listed.set(type, Buffer.from(`${value}\0`, 'latin1'));
  }

  /** Reads from a register. */
  load(type: number, length: number, listedAs = type): void {
    const register = this.be32(type)!;
    this.registers.load(register, length);
    this.list(listedAs, listedRegister(register));
  }

  /** Writes to a register. */
  store(type: number, length: number): void {
    const register = this.be32(type)!;
    this.registers.store(register, length);
    this.list(type, listedRegister(register));
  }

  /** A value, of this length if one is given. @throws Refusal */
  value(type: number, length?: number): Buffer {
    const value = valueIn(this.attributes?.nested(type), length);
    this.keepData(type);
    return value;
  }

  verdict(type: number): Verdict {
    const data = this.attributes?.nested(type);
    if (!data || data.has(DATA.VALUE)) throw new Refusal(E.EINVAL);
    const verdict = verdictIn(this.chain.table, data);
    this.keepData(type);
    return verdict;
  }

  /** The set that is named, by its number in the batch if the name is not known yet. */
  set(nameType: number, idType: number): NftSet {
    const { table } = this.chain;
    const set = findSet(table, this.attributes?.text(nameType), this.be32(idType), this.transaction);
    if (!set) throw new Refusal(E.ENOENT);
    this.listText(nameType, set.name);
    return set;
  }

  text(type: number): string | undefined {
    return this.attributes?.text(type);
  }
}

/** @throws Refusal unless it is a value, of this length if one is given */
export function valueIn(data: Attributes | undefined, length?: number): Buffer {
  const value = data?.value(DATA.VALUE);
  if (!value || value.length === 0) throw new Refusal(E.EINVAL);
  if (value.length > MAX_VALUE_LENGTH) throw new Refusal(EOVERFLOW);
  if (length !== undefined && value.length !== length) throw new Refusal(E.EINVAL);
  return value;
}
