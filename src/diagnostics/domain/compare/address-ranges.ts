import ipaddr from 'ipaddr.js';
import { addressBits, type Cidr } from '../../../domain/net/cidr.js';
import type { IpFamily } from '../../../domain/net/ip-family.js';
import { ipv4Number, ipv4Text } from '../../../domain/net/address.js';

/** Addresses of one family as numbers, from one to another, both included. */
export interface AddressRange {
  readonly first: bigint;
  readonly last: bigint;
}

/** Ranges that do not touch, in their order. */
export type AddressRanges = readonly AddressRange[];

export function addressNumber(text: string): bigint {
  const ipv4 = ipv4Number(text);
  if (ipv4 !== undefined) return BigInt(ipv4);
  let number = 0n;
  for (const byte of ipaddr.parse(text).toByteArray()) number = (number << 8n) | BigInt(byte);
  return number;
}

/** Canonical text. */
export function numberedAddress(number: bigint, family: IpFamily): string {
  if (family === 'IPv4') return ipv4Text(Number(number));
  const bytes = Array.from({ length: 16 }, (_, at) => Number((number >> BigInt(120 - 8 * at)) & 0xffn));
  return new ipaddr.IPv6(bytes).toRFC5952String();
}

export function rangeOf({ family, address, prefixLength }: Cidr): AddressRange {
  const first = addressNumber(address);
  return { first, last: first + (1n << BigInt(addressBits(family) - prefixLength)) - 1n };
}

export function singleAddress(text: string): AddressRange {
  const number = addressNumber(text);
  return { first: number, last: number };
}

export function rangeHas({ first, last }: AddressRange, number: bigint): boolean {
  return first <= number && number <= last;
}

/** Ranges in any order, which may overlap, as ranges that do not. */
export function rangesOf(ranges: Iterable<AddressRange>): AddressRanges {
  const sorted = [...ranges].sort((one, other) =>
    one.first < other.first ? -1 : Number(one.first > other.first),
  );
  const joined: { first: bigint; last: bigint }[] = [];
  for (const { first, last } of sorted) {
    const before = joined.at(-1);
    if (!before || first > before.last + 1n) joined.push({ first, last });
    else if (last > before.last) before.last = last;
  }
  return joined;
}

export function intersection(one: AddressRanges, other: AddressRanges): AddressRanges {
  const common: AddressRange[] = [];
  for (let at = 0, its = 0; at < one.length && its < other.length;) {
    const [a, b] = [one[at]!, other[its]!];
    const first = a.first > b.first ? a.first : b.first;
    const last = a.last < b.last ? a.last : b.last;
    if (first <= last) common.push({ first, last });
    if (a.last < b.last) at++;
    else its++;
  }
  return common;
}

/** The first without the second. */
export function without(one: AddressRanges, other: AddressRanges): AddressRanges {
  const left: AddressRange[] = [];
  let its = 0;
  for (const { first, last } of one) {
    let from = first;
    while (its < other.length && other[its]!.last < from) its++;
    for (let at = its; at < other.length && other[at]!.first <= last; at++) {
      if (other[at]!.first > from) left.push({ first: from, last: other[at]!.first - 1n });
      from = other[at]!.last + 1n;
    }
    if (from <= last) left.push({ first: from, last });
  }
  return left;
}
