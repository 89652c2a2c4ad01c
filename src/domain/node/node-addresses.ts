/** Addresses of the node, and those at which its node ports are reachable. */

import { isLoopback, parseAddress, LOCALHOST, type Address } from '../net/address.js';
import { cidrContains, parseCidr, addressBits, type Cidr } from '../net/cidr.js';
import { IP_FAMILIES, type IpFamily } from '../net/ip-family.js';

const LINK_LOCAL = parseCidr('fe80::/10')!;

/** An entry of a Node's `status.addresses`. */
export interface NodeStatusAddress {
  readonly type: string;
  readonly address: string;
}

/** The address of the node in each family, and its primary family. */
interface NodeAddresses {
  readonly primaryFamily: IpFamily;
  /** Canonical text; `127.0.0.1` and `::1` if the node has none of the family. */
  readonly addresses: Readonly<Record<IpFamily, string>>;
}

/**
 * The node IPs in order of preference: the first internal, else external address, then the first of the other
 * family. None, one or two (docs/internals/spec/server.md §2).
 */
export function nodeIPs(statusAddresses: readonly NodeStatusAddress[]): readonly Address[] {
  const candidates = internalAndExternal(statusAddresses);
  const [first] = candidates;
  const second = candidates.find((address) => address.family !== first?.family);
  return [first, second].filter((address) => address !== undefined);
}

/** The internal and external addresses besides those. */
export function furtherAddresses(statusAddresses: readonly NodeStatusAddress[]): readonly Address[] {
  const chosen = nodeIPs(statusAddresses).map(({ text }) => text);
  return internalAndExternal(statusAddresses).filter(({ text }) => !chosen.includes(text));
}

function internalAndExternal(statusAddresses: readonly NodeStatusAddress[]): readonly Address[] {
  return ['InternalIP', 'ExternalIP'].flatMap((type) =>
    statusAddresses.flatMap((entry) => (entry.type === type ? (parseAddress(entry.address) ?? []) : [])),
  );
}

/** Chooses primary family and node addresses; a specified `bindAddress` overrides the Node (docs/internals/spec/server.md §3). */
export function selectNodeAddresses(ips: readonly Address[], bindAddress: string): NodeAddresses {
  const bind = parseAddress(bindAddress);
  const override = bind && !['0.0.0.0', '::'].includes(bind.text) ? bind : undefined;
  const addresses = { IPv4: '127.0.0.1', IPv6: '::1' };
  for (const ip of [...ips.slice(0, 2), ...(override ? [override] : [])]) addresses[ip.family] = ip.text;
  return { primaryFamily: (override ?? ips[0])?.family ?? 'IPv4', addresses };
}

/** Whether the primary address is loopback, so other machines cannot reach the node by it. */
export function isPrimaryLoopback({ primaryFamily, addresses }: NodeAddresses): boolean {
  return isLoopback({ family: primaryFamily, text: addresses[primaryFamily] });
}

/**
 * Whether an address counts as one of this node: neither loopback nor link-local IPv6; 169.254.0.0/16 does (docs/internals/spec/ipvs.md
 * §3).
 */
export function isOwnAddress(address: Address): boolean {
  return !isLoopback(address) && !cidrContains(LINK_LOCAL, address.text);
}

/** The words that may stand among the CIDRs of `nodePortAddresses` (docs/internals/spec/changes-1.37.md §3). */
export const NODE_PORT_KEYWORDS = ['primary', 'localhost', 'all'] as const;

/** The local addresses of one family that accept node port traffic (docs/internals/spec/model.md §7). */
type NodePortAddresses = {
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
 * all local addresses (docs/internals/spec/server.md §3.2).
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
interface NodePortIPs {
  readonly ips: readonly string[];
  /** Matched, too (docs/internals/spec/model.md §7). */
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
