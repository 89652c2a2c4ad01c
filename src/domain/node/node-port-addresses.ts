import { isLoopback, parseAddress } from '../net/address.js';
import { cidrContains, parseCidr, type Cidr } from '../net/cidr.js';
import type { IpFamily } from '../net/ip-family.js';

/** On which local addresses of one family node ports answer (docs/spec/model.md §7). */
export type NodePortAddresses = {
  /** The list lets node ports answer on 127.0.0.0/8; never so for IPv6. */
  readonly containsIPv4Loopback: boolean;
} & ({ readonly matchAll: true } | { readonly matchAll: false; readonly cidrs: readonly Cidr[] });

const EVERYTHING: Readonly<Record<IpFamily, Cidr>> = {
  IPv4: { family: 'IPv4', address: '0.0.0.0', prefixLength: 0 },
  IPv6: { family: 'IPv6', address: '::', prefixLength: 0 },
};

/**
 * Reads the configured list for one family. A family without an entry answers on all its addresses.
 * @param nodePortAddresses CIDRs, `primary` resolved; what is no CIDR is left out, validation has refused it before
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

/** The local addresses that a list of CIDRs picks; loopback ones apart, as most backends cannot serve them. */
export interface NodePortIPs {
  readonly ips: readonly string[];
  /** For the log: picked, but not served by nftables (docs/spec/model.md §7). */
  readonly loopback: readonly string[];
}

/** @param localAddresses the addresses on all local interfaces, of any family, in any text form */
export function nodePortIPs(cidrs: readonly Cidr[], localAddresses: Iterable<string>): NodePortIPs {
  const picked = new Map<string, boolean>();
  for (const text of localAddresses) {
    const address = parseAddress(text);
    if (address && cidrs.some((cidr) => cidrContains(cidr, address.text))) {
      picked.set(address.text, isLoopback(address));
    }
  }
  const select = (loopback: boolean) => [...picked].filter(([, is]) => is === loopback).map(([text]) => text);
  return { ips: select(false), loopback: select(true) };
}

function coversIPv4Loopback(cidr: Cidr): boolean {
  if (cidr.family !== 'IPv4') return false;
  return cidr.address.startsWith('127.') || cidrContains(cidr, '127.0.0.0');
}
