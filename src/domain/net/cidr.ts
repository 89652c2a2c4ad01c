import ipaddr from 'ipaddr.js';
import { parseAddress, ipv4Number, ipv4Text } from './address.js';
import type { IpFamily } from './ip-family.js';

/** A network: its first address in canonical text, and the prefix length. */
export interface Cidr {
  readonly family: IpFamily;
  readonly address: string;
  readonly prefixLength: number;
}

/** Reads `address/length`; host bits are cleared. Undefined when the text is not a CIDR. Leading zeros are allowed. */
export function parseCidr(text: unknown): Cidr | undefined {
  if (typeof text !== 'string') return undefined;
  const parts = /^([^/]+)\/(\d{1,4})$/.exec(text);
  const address = parseAddress(parts?.[1]);
  if (!parts || !address) return undefined;
  // The length of an IPv4-mapped network counts IPv6 bits, so it would mean another network.
  if (address.family === 'IPv4' && text.includes(':')) return undefined;
  const { family, text: canonical } = address;
  const prefixLength = Number(parts[2]);
  const bits = addressBits(family);
  if (prefixLength > bits) return undefined;
  const isOneAddress = prefixLength === bits;
  return { family, address: isOneAddress ? canonical : maskAddress(canonical, prefixLength), prefixLength };
}

export function cidrText(cidr: Cidr): string {
  return `${cidr.address}/${cidr.prefixLength}`;
}

export function addressBits(family: IpFamily): 32 | 128 {
  return family === 'IPv4' ? 32 : 128;
}

/** The network address of `address` under a prefix of that length, in canonical text. */
export function maskAddress(address: string, prefixLength: number): string {
  const ipv4 = ipv4Number(address);
  if (ipv4 !== undefined) return ipv4Text(ipv4Masked(ipv4, prefixLength));
  const bytes = ipaddr.parse(address).toByteArray();
  const masked = bytes.map((byte, index) => {
    const bits = Math.min(8, Math.max(0, prefixLength - index * 8));
    return byte & (0xff << (8 - bits)) & 0xff;
  });
  return new ipaddr.IPv6(masked).toRFC5952String();
}

function ipv4Masked(number: number, prefixLength: number): number {
  return prefixLength === 0 ? 0 : (number & (-1 << (32 - prefixLength))) >>> 0;
}

/** The first address that a host of the network may have: the one after the address of the network itself. */
export function firstHost({ address }: Cidr): string {
  const bytes = ipaddr.parse(address).toByteArray();
  for (let index = bytes.length - 1; index >= 0; index--) {
    bytes[index] = (bytes[index]! + 1) & 0xff;
    if (bytes[index] !== 0) break;
  }
  const host = ipaddr.fromByteArray(bytes);
  return host instanceof ipaddr.IPv6 ? host.toRFC5952String() : host.toString();
}

/** Whether the address (canonical text of the CIDR's family) is in the network. */
export function cidrContains(cidr: Cidr, address: string): boolean {
  const ipv4 = ipv4Number(address);
  if ((ipv4 !== undefined) !== (cidr.family === 'IPv4')) return false;
  if (ipv4 === undefined) return maskAddress(address, cidr.prefixLength) === cidr.address;
  return ipv4Masked(ipv4, cidr.prefixLength) === ipv4Number(cidr.address);
}
