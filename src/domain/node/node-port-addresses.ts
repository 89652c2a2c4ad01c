import { isLoopback, LOCALHOST, parseAddress } from '../net/address.js';
import { addressBits, cidrContains, parseCidr, type Cidr } from '../net/cidr.js';
import { IP_FAMILIES, type IpFamily } from '../net/ip-family.js';
import type { NodeAddresses } from './node-addresses.js';

/** The words that may stand among the CIDRs of `nodePortAddresses` (docs/spec/changes-1.37.md §3). */
export const NODE_PORT_KEYWORDS = ['primary', 'localhost', 'all'] as const;

/** The local addresses of one family that accept node port traffic (docs/spec/model.md §7). */
export type NodePortAddresses = {
  /** The list includes 127.0.0.0/8; always false for IPv6. */
  readonly containsIPv4Loopback: boolean;
  /** The list names loopback addresses, `127.0.0.1` or `::1` among them; everything does not. */
  readonly explicitLoopback: boolean;
} & ({ readonly matchAll: true } | { readonly matchAll: false; readonly cidrs: readonly Cidr[] });

const EVERYTHING: Readonly<Record<IpFamily, Cidr>> = {
  IPv4: { family: 'IPv4', address: '0.0.0.0', prefixLength: 0 },
  IPv6: { family: 'IPv6', address: '::', prefixLength: 0 },
};

/**
 * Replaces keywords with what they stand for on this node: `primary` with its addresses except loopback. An empty result means
 * all local addresses (docs/spec/server.md §3.2).
 */
export function expandNodePortAddresses(
  nodePortAddresses: readonly string[],
  { addresses }: NodeAddresses,
): readonly string[] {
  return nodePortAddresses.flatMap((entry) => {
    switch (entry) {
      case 'primary':
        return IP_FAMILIES.filter((family) => !isLoopback({ family, text: addresses[family] })).map(
          (family) => `${addresses[family]}/${addressBits(family)}`,
        );
      case 'localhost':
        return ['127.0.0.0/8', '::1/128'];
      case 'all':
        return ['0.0.0.0/0', '::/0'];
      default:
        return [entry];
    }
  });
}

/**
 * Reads the configured list for one family. A family without an entry uses all its addresses.
 * @param nodePortAddresses CIDRs, with keywords replaced; anything else is ignored, because validation has rejected it
 */
export function nodePortAddressesOf(
  family: IpFamily,
  nodePortAddresses: readonly string[],
): NodePortAddresses {
  const ofFamily = nodePortAddresses.map(parseCidr).filter((cidr) => cidr?.family === family);
  const cidrs = ofFamily.length > 0 ? (ofFamily as Cidr[]) : [EVERYTHING[family]];
  const matchAll = cidrs.some((cidr) => cidr.prefixLength === 0);
  const loopback = {
    containsIPv4Loopback: cidrs.some(coversIPv4Loopback),
    explicitLoopback: cidrs.some(namesLocalhost),
  };
  return matchAll ? { matchAll, ...loopback } : { matchAll, cidrs, ...loopback };
}

/** The local addresses that match a list of CIDRs; loopback addresses separately, because most backends do not support them. */
export interface NodePortIPs {
  readonly ips: readonly string[];
  /** Matched, too (docs/spec/model.md §7). */
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

function namesLocalhost(cidr: Cidr): boolean {
  const { family, address: text } = cidr;
  return isLoopback({ family, text }) && cidrContains(cidr, LOCALHOST[family]);
}

function coversIPv4Loopback(cidr: Cidr): boolean {
  if (cidr.family !== 'IPv4') return false;
  return cidr.address.startsWith('127.') || cidrContains(cidr, '127.0.0.0');
}
