import ipaddr from 'ipaddr.js';
import type { IpFamily } from './ip-family.js';

/** One address in canonical text: dotted quads without leading zeros, IPv6 compressed and in lower case. */
export interface Address {
  readonly family: IpFamily;
  readonly text: string;
}

const QUAD = /^\d{1,9}\.\d{1,9}\.\d{1,9}\.\d{1,9}$/;
const PLAIN_QUAD = /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)\.){3}(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)$/;

/**
 * Reads an address as Kubernetes does: leading zeros in IPv4 octets are decimal, zones and brackets are refused,
 * an IPv4-mapped IPv6 address is the IPv4 address. Undefined when the text is no address.
 */
export function parseAddress(text: unknown): Address | undefined {
  if (typeof text !== 'string') return undefined;
  if (PLAIN_QUAD.test(text)) return { family: 'IPv4', text };
  if (QUAD.test(text)) {
    const octets = text.split('.').map(Number);
    return octets.every((octet) => octet <= 255) ? { family: 'IPv4', text: octets.join('.') } : undefined;
  }
  if (!text.includes(':') || text.includes('%') || !ipaddr.IPv6.isValid(text)) return undefined;
  const address = ipaddr.IPv6.parse(text);
  if (address.isIPv4MappedAddress()) return { family: 'IPv4', text: address.toIPv4Address().toString() };
  return { family: 'IPv6', text: address.toRFC5952String() };
}

export function isLoopback(address: Address): boolean {
  return address.family === 'IPv4' ? address.text.startsWith('127.') : address.text === '::1';
}

/** `ip:port`, with brackets around IPv6, as kube-proxy prints and sorts endpoints. */
export function hostPort(address: string, port: number): string {
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
}
