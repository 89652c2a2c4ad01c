import { isLoopback, parseAddress } from '../net/address.js';
import { cidrContains, parseCidr, type Cidr } from '../net/cidr.js';
import type { IpFamily } from '../net/ip-family.js';

/** The local addresses of one family that accept node port traffic (docs/spec/model.md §7). */
export type NodePortAddresses = {
  /** The list includes 127.0.0.0/8; always false for IPv6. */
  readonly containsIPv4Loopback: boolean;
} & ({ readonly matchAll: true } | { readonly matchAll: false; readonly cidrs: readonly Cidr[] });

const EVERYTHING: Readonly<Record<IpFamily, Cidr>> = {
  IPv4: { family: 'IPv4', address: '0.0.0.0', prefixLength: 0 },
  IPv6: { family: 'IPv6', address: '::', prefixLength: 0 },
};

/**
 * Reads the configured list for one family. A family without an entry uses all its addresses.
 * @param nodePortAddresses CIDRs, with `primary` resolved; anything else is ignored, because validation has rejected it
 */
export function nodePortAddressesOf(
  family: IpFamily,
  nodePortAddresses: readonly string[],
): NodePortAddresses {
  const ofFamily = nodePortAddresses.map(parseCidr).filter((cidr) => cidr?.family === family);
  const cidrs = ofFamily.length > 0 ? (ofFamily as Cidr[]) : [EVERYTHING[family]];
  const end = cidrs.findIndex((cidr) => cidr.prefixLength === 0);
  const considered = end < 0 ? cidrs : cidrs.slice(0, end + 1);
  const containsIPv4Loopback = considered.some(coversIPv4Loopback);
  return end < 0
    ? { matchAll: false, cidrs, containsIPv4Loopback }
    : { matchAll: true, containsIPv4Loopback };
}

/** The local addresses that match a list of CIDRs; loopback addresses separately, because most backends do not support them. */
export interface NodePortIPs {
  readonly ips: readonly string[];
  /** For the log: matched, but not supported by nftables (docs/spec/model.md §7). */
  readonly loopback: readonly string[];
}

/** @param localAddresses the addresses of all local interfaces, of any family, in any text form */
export function nodePortIPs(cidrs: readonly Cidr[], localAddresses: Iterable<string>): NodePortIPs {
  const matched = new Map<string, boolean>();
  for (const text of localAddresses) {
    const address = parseAddress(text);
    if (address && cidrs.some((cidr) => cidrContains(cidr, address.text))) {
      matched.set(address.text, isLoopback(address));
    }
  }
  const select = (loopback: boolean) =>
    [...matched].filter(([, is]) => is === loopback).map(([text]) => text);
  return { ips: select(false), loopback: select(true) };
}

function coversIPv4Loopback(cidr: Cidr): boolean {
  if (cidr.family !== 'IPv4') return false;
  return cidr.address.startsWith('127.') || cidrContains(cidr, '127.0.0.0');
}
