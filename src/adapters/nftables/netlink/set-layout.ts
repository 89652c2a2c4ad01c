/** How nf_tables stores a set: types, lengths and userdata. */

import { Buffer } from 'node:buffer';
import { getOrMake } from '../../../domain/model/maps.js';
import type { IpFamily } from '../../../domain/net/ip-family.js';
import type { SetDefinition } from '../../../domain/nftables/layout/table.js';
import { componentOf, slotLength, typeOf, Component } from './components.js';
import { SET_FLAG, VERDICT_TYPE, USERDATA } from './nf-tables.js';
import { hostWord } from '../../../domain/nftables/kernel/bytes.js';
import { closedText, userdataEntry, type SetRecord } from './records.js';

/** A set as the kernel sees it (docs/internals/spec/nft-netlink.md §6.4, §7.1). */
export interface SetLayout {
  readonly flags: number;
  readonly key: readonly Component[];
  readonly keyType: number;
  readonly keyLength: number;
  /** Undefined for sets and for verdict maps. */
  readonly value: readonly Component[] | undefined;
  /** 0 for sets. */
  readonly dataType: number;
  /** 0 for sets and verdict maps. */
  readonly dataLength: number;
  /** 0 for no limit. */
  readonly size: number;
}

const known = {
  IPv4: new WeakMap<SetDefinition, SetLayout>(),
  IPv6: new WeakMap<SetDefinition, SetLayout>(),
};

/** The layout of a set in a family. Computed once for each definition. */
export function setLayout(family: IpFamily, set: SetDefinition): SetLayout {
  return getOrMake(known[family], set, () => layOut(family, set));
}

function layOut(family: IpFamily, { key, value, dynamicSize }: SetDefinition): SetLayout {
  const keyComponents = key.map((type) => componentOf(family, type));
  const valueComponents = Array.isArray(value) ? value.map((type) => componentOf(family, type)) : undefined;
  const ofData = valueComponents && shape(valueComponents);
  const { type: keyType, length: keyLength } = shape(keyComponents);
  return {
    flags:
      (value === undefined ? 0 : SET_FLAG.MAP) |
      (dynamicSize === undefined ? 0 : SET_FLAG.TIMEOUT | SET_FLAG.EVAL),
    key: keyComponents,
    keyType,
    keyLength,
    value: valueComponents,
    dataType: value === 'verdict' ? VERDICT_TYPE : (ofData?.type ?? 0),
    dataLength: ofData?.length ?? 0,
    size: dynamicSize ?? 0,
  };
}

/** A single component keeps its own length; in a concatenation each fills whole slots. */
function shape(components: readonly Component[]): { type: number; length: number } {
  if (components.length === 1) {
    const { number, length } = typeOf(components[0]!);
    return { type: number, length };
  }
  return components.reduce(
    ({ type, length }, component) => ({
      type: ((type << 6) | typeOf(component).number) >>> 0,
      length: length + slotLength(component),
    }),
    { type: 0, length: 0 },
  );
}

/** Describes a set in words that compare equal if two sets differ only in name, comment and elements. */
export function setText(family: IpFamily, set: SetDefinition): string {
  return describeLayout(setLayout(family, set));
}

/** The same of a set that was listed. */
export function listedSetText({ description, ...record }: SetRecord): string {
  return describeLayout({ ...record, size: description?.size ?? 0 });
}

function describeLayout({
  flags = 0,
  keyType = 0,
  keyLength = 0,
  dataType = 0,
  dataLength = 0,
  size,
}: Pick<SetRecord, 'flags' | 'keyType' | 'keyLength' | 'dataType' | 'dataLength'> & {
  readonly size: number;
}): string {
  const data = `data 0x${dataType.toString(16)}/${dataType === VERDICT_TYPE ? 0 : dataLength}`;
  return [
    `flags 0x${flags.toString(16)}`,
    `key 0x${keyType.toString(16)}/${keyLength}`,
    ...(flags & SET_FLAG.MAP ? [data] : []),
    ...(size > 0 ? [`size ${size}`] : []),
  ].join(' ');
}

/* nft stores numbers in the host's byte order. */

/** nft's form of an expression: its kind (13, a concatenation), then its parts, which are only stored for `typeof`. */
const CONCATENATION = Buffer.concat([userdataEntry(0, hostWord(13)), userdataEntry(1, new Uint8Array())]);

/** The same of `typeof meta priority`, and of `typeof meta priority . numgen random mod 2`, which stands for a slot. */
const PRIORITY = example(9, [hostWord(2)]);
const DRAWN = example(23, [hostWord(1), hostWord(2), hostWord(0)]);
const SLOT_KEY = Buffer.concat([
  userdataEntry(0, hostWord(13)),
  userdataEntry(1, Buffer.concat([userdataEntry(0, PRIORITY), userdataEntry(1, DRAWN)])),
]);

function example(kind: number, values: readonly Uint8Array[]): Buffer {
  const parts = Buffer.concat(values.map((value, index) => userdataEntry(index, value)));
  return Buffer.concat([userdataEntry(0, hostWord(kind)), userdataEntry(1, parts)]);
}

/**
 * The userdata that nft stores with a set, so that it can list it: byte orders, and whether a key or value is a
 * concatenation (nftables' src/mnl.c, src/expression.c; checked byte for byte against nft 1.0.6).
 */
export function setUserdata(
  set: SetDefinition,
  key: readonly Component[],
  value: readonly Component[] | undefined,
): Buffer {
  const parts = [userdataEntry(USERDATA.KEY_BYTE_ORDER, hostWord(byteOrder(key)))];
  if (set.value !== undefined)
    parts.push(userdataEntry(USERDATA.DATA_BYTE_ORDER, hostWord(value ? byteOrder(value) : 0)));
  const hasSlots = key.includes(Component.Slot);
  if (key.length > 1) parts.push(userdataEntry(USERDATA.KEY_TYPEOF, hasSlots ? SLOT_KEY : CONCATENATION));
  if (hasSlots) parts.push(userdataEntry(USERDATA.DATA_TYPEOF, PRIORITY));
  else if (value && value.length > 1) parts.push(userdataEntry(USERDATA.DATA_TYPEOF, CONCATENATION));
  if (set.value !== undefined) parts.push(userdataEntry(USERDATA.DATA_INTERVAL, hostWord(0)));
  if (set.comment !== undefined) parts.push(userdataEntry(USERDATA.SET_COMMENT, closedText(set.comment)));
  return Buffer.concat(parts);
}

/** nft's byte orders: 0 none (concatenations), 1 the host's, 2 the network's. */
function byteOrder(components: readonly Component[]): number {
  if (components.length > 1) return 0;
  const [only] = components;
  return only === Component.Priority || only === Component.Protocol ? 1 : 2;
}
