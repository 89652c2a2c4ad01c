import { Buffer } from 'node:buffer';
import type { SetDefinition } from '../../../domain/nftables/table.js';
import { Component } from './components.js';
import { USERDATA } from './nf-tables.js';

/**
 * What nft stores with a set, so that it can list it: byte orders, and how the key and value were declared (nftables'
 * src/mnl.c, src/expression.c; checked byte for byte against nft 1.0.6). A set with random numbers is declared by
 * example (`typeof`), as render-set.ts does.
 */
export function setUserdata(
  set: SetDefinition,
  key: readonly Component[],
  value: readonly Component[] | undefined,
): Buffer {
  const byExample = key.includes(Component.Number) || (value?.includes(Component.Number) ?? false);
  const parts = [entry(USERDATA.KEY_BYTE_ORDER, number(byteOrder(key)))];
  if (set.value !== undefined)
    parts.push(entry(USERDATA.DATA_BYTE_ORDER, number(value ? byteOrder(value) : 0)));
  parts.push(typeOf(USERDATA.KEY_TYPEOF, key, byExample));
  if (value) parts.push(typeOf(USERDATA.DATA_TYPEOF, value, byExample));
  if (set.value !== undefined) parts.push(entry(USERDATA.DATA_INTERVAL, number(0)));
  if (set.comment !== undefined) parts.push(entry(USERDATA.SET_COMMENT, closedText(set.comment)));
  return Buffer.concat(parts);
}

/** Userdata of a table, rule or element: its comment. */
export function commentUserdata(comment: string): Buffer {
  return entry(USERDATA.COMMENT, closedText(comment));
}

/** nft's byte orders: 0 none (concatenations), 1 the host's, 2 the network's. */
function byteOrder(components: readonly Component[]): number {
  if (components.length > 1) return 0;
  const [only] = components;
  return only === Component.Number || only === Component.Priority || only === Component.Protocol ? 1 : 2;
}

/** nft's numbers of expressions, and of their parts. */
const EXPRESSION = { PAYLOAD: 7, META: 9, CONCATENATION: 13, NUMGEN: 23 } as const;
const KIND = 0;
const DETAILS = 1;

function typeOf(type: number, components: readonly Component[], byExample: boolean): Buffer {
  if (components.length === 1) return byExample ? entry(type, example(components[0]!)) : Buffer.alloc(0);
  const parts = byExample ? components.map((component, index) => entry(index, example(component))) : [];
  return entry(type, expression(EXPRESSION.CONCATENATION, ...parts));
}

/** `ip daddr`, `meta l4proto`, `th dport`, `numgen random mod 2`, `meta priority`. */
function example(component: Component): Buffer {
  switch (component) {
    case Component.IPv4Address:
      return expression(EXPRESSION.PAYLOAD, entry(0, number(12)), entry(1, number(12)));
    case Component.IPv6Address:
      return expression(EXPRESSION.PAYLOAD, entry(0, number(13)), entry(1, number(9)));
    case Component.Port:
      return expression(EXPRESSION.PAYLOAD, entry(0, number(11)), entry(1, number(2)));
    case Component.Protocol:
      return expression(EXPRESSION.META, entry(0, number(16)));
    case Component.Priority:
      return expression(EXPRESSION.META, entry(0, number(2)));
    case Component.Number:
      return expression(EXPRESSION.NUMGEN, entry(0, number(1)), entry(1, number(2)), entry(2, number(0)));
  }
}

function expression(kind: number, ...details: readonly Buffer[]): Buffer {
  return Buffer.concat([entry(KIND, number(kind)), entry(DETAILS, Buffer.concat(details))]);
}

function entry(type: number, value: Uint8Array): Buffer {
  if (value.length > 255) throw new RangeError(`userdata of ${value.length} bytes`);
  return Buffer.concat([Uint8Array.of(type, value.length), value]);
}

/** nft stores numbers in the host's byte order. */
function number(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

function closedText(text: string): Buffer {
  return Buffer.from(`${text}\0`);
}
