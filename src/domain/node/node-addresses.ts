import { isLoopback, parseAddress, type Address } from '../net/address.js';
import { cidrContains, parseCidr } from '../net/cidr.js';
import type { IpFamily } from '../net/ip-family.js';

const LINK_LOCAL = parseCidr('fe80::/10')!;

/** An entry of a Node's `status.addresses`. */
export interface NodeStatusAddress {
  readonly type: string;
  readonly address: string;
}

/** The address of the node in each family, and its primary family. */
export interface NodeAddresses {
  readonly primaryFamily: IpFamily;
  /** Canonical text; `127.0.0.1` and `::1` if the node has none of the family. */
  readonly addresses: Readonly<Record<IpFamily, string>>;
}

/**
 * The node IPs in order of preference: the first internal, else external address, then the first of the other
 * family. None, one or two (docs/spec/server.md §2).
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

/** Chooses primary family and node addresses; a specified `bindAddress` overrides the Node (docs/spec/server.md §3). */
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

/** Whether an address counts as one of this node: neither loopback nor link-local IPv6; 169.254.0.0/16 does (docs/spec/ipvs.md §3). */
export function isOwnAddress(address: Address): boolean {
  return !isLoopback(address) && !cidrContains(LINK_LOCAL, address.text);
}
