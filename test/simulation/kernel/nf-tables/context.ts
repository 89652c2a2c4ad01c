import { E } from '../netlink/numbers.js';
import { Attributes, Refusal } from '../netlink/attributes.js';
import { tableId, type Chain, type NftSet, type Table } from './objects.js';
import type { Transaction } from './changes/transaction.js';

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
  readonly bytes: Buffer;
  /** Where its header begins, and where it ends. */
  readonly start: number;
  readonly end: number;
  /** The lower byte of its type. */
  readonly kind: number;
  readonly flags: number;
  readonly sequence: number;
  readonly family: number;
  readonly attributes: Attributes;
}

/** Of headers. */
const NLMSG = 16;
const NFGENMSG = 4;

/** The message that begins here, if it is whole. */
export function messageAt(bytes: Buffer, start: number): Message | undefined {
  if (start + NLMSG > bytes.length) return undefined;
  const end = start + bytes.readUInt32LE(start);
  if (end < start + NLMSG + NFGENMSG || end > bytes.length) return undefined;
  return {
    bytes,
    start,
    end,
    kind: bytes[start + 4]!,
    flags: bytes.readUInt16LE(start + 6),
    sequence: bytes.readUInt32LE(start + 8),
    family: bytes[start + NLMSG]!,
    attributes: new Attributes(bytes, start + NLMSG + NFGENMSG, end, true),
  };
}

/** The table that a message is about. @throws Refusal */
export function tableOf(
  { tables }: Context,
  { family, attributes }: Message,
  attribute: number,
  port: number,
): Table {
  const name = attributes.text(attribute);
  if (name === undefined) throw new Refusal(E.EINVAL);
  const table = tables.get(tableId(family, name));
  if (!table) throw new Refusal(E.ENOENT, attributes.at(attribute));
  if (table.owner !== undefined && port !== 0 && table.owner !== port)
    throw new Refusal(E.EPERM, attributes.at(attribute));
  return table;
}

/** @throws Refusal */
export function chainOf(table: Table, attributes: Attributes, attribute: number): Chain {
  const name = attributes.text(attribute);
  if (name === undefined) throw new Refusal(E.EINVAL, attributes.at(attribute));
  const chain = table.chains.get(name);
  if (!chain) throw new Refusal(E.ENOENT, attributes.at(attribute));
  return chain;
}

/** By its name, or else by the number that it has in the batch. */
export function findSet(
  table: Table,
  name: string | undefined,
  id: number | undefined,
  transaction: Transaction | undefined,
): NftSet | undefined {
  const named = name === undefined ? undefined : table.sets.get(name);
  if (named || id === undefined) return named;
  const numbered = transaction?.sets.get(id);
  return numbered?.table === table ? numbered : undefined;
}

/** The one among them that has this handle. */
export function byHandle<T extends { readonly handle: number }>(
  all: Iterable<T>,
  handle: number | undefined,
): T | undefined {
  for (const one of all) if (one.handle === handle) return one;
  return undefined;
}
