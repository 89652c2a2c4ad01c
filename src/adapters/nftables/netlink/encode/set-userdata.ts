import { Buffer } from 'node:buffer';
import type { SetDefinition } from '../../../../domain/nftables/layout/table.js';
import { Component } from '../read/components.js';
import { USERDATA } from '../nf-tables.js';
import { hostWord } from './operands.js';
import { closedText, userdataEntry } from '../messages/userdata.js';

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

function example(kind: number, values: readonly Buffer[]): Buffer {
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
