/** IP addresses. */

import ipaddr from 'ipaddr.js';
import type { IpFamily } from './ip-family.js';

/** One address in canonical text: dotted quads without leading zeros, IPv6 compressed and in lower case. */
export interface Address {
  readonly family: IpFamily;
  readonly text: string;
}

const QUAD = /^\d{1,9}\.\d{1,9}\.\d{1,9}\.\d{1,9}$/;
const PLAIN_QUAD = /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)\.){3}(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)$/;

/** Groups of one to four hexadecimal digits. ipaddr.js checks their number, but accepts longer groups and hexadecimal quads. */
const GROUPS = /^(?=.*:)(?:[0-9a-f]{0,4}:)*[0-9a-f]{0,4}$/i;
const QUAD_AT_END = /^(.*:)([^:]*\.[^:]*)$/;

/**
 * Reads an address as Kubernetes does: IPv4 octets with leading zeros are decimal, zones and brackets are rejected,
 * and an IPv4-mapped IPv6 address is the IPv4 address. Undefined when the text is not an address.
 */
export function parseAddress(text: unknown): Address | undefined {
  if (typeof text !== 'string') return undefined;
  if (PLAIN_QUAD.test(text)) return { family: 'IPv4', text };
  if (QUAD.test(text)) {
    const octets = text.split('.').map(Number);
    return octets.every((octet) => octet <= 255) ? { family: 'IPv4', text: octets.join('.') } : undefined;
  }
  const groups = withoutQuad(text);
  if (groups === undefined || !GROUPS.test(groups) || !ipaddr.IPv6.isValid(groups)) return undefined;
  const address = ipaddr.IPv6.parse(groups);
  if (address.isIPv4MappedAddress()) return { family: 'IPv4', text: address.toIPv4Address().toString() };
  return { family: 'IPv6', text: address.toRFC5952String() };
}

/** IPv6 text with a dotted quad at its end rewritten as two groups. Undefined when the quad is invalid. */
function withoutQuad(text: string): string | undefined {
  const [, head, quad] = QUAD_AT_END.exec(text) ?? [];
  if (quad === undefined) return text;
  const address = parseAddress(quad);
  if (!address) return undefined;
  const [a = 0, b = 0, c = 0, d = 0] = address.text.split('.').map(Number);
  return `${head}${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
}

const DOT = 46;
const ZERO = 48;

/** An IPv4 address in canonical text as a number of 32 bits; undefined for an IPv6 address. */
export function ipv4Number(text: string): number | undefined {
  let number = 0;
  let octet = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === DOT) {
      number = number * 256 + octet;
      octet = 0;
    } else {
      const digit = code - ZERO;
      if (digit < 0 || digit > 9) return undefined;
      octet = octet * 10 + digit;
    }
  }
  return number * 256 + octet;
}

/** Its canonical text. */
export function ipv4Text(number: number): string {
  return `${number >>> 24}.${(number >>> 16) & 0xff}.${(number >>> 8) & 0xff}.${number & 0xff}`;
}

/** The addresses of `localhost`. */
export const LOCALHOST: Readonly<Record<IpFamily, string>> = { IPv4: '127.0.0.1', IPv6: '::1' };

export function isLoopback(address: Address): boolean {
  return address.family === 'IPv4' ? address.text.startsWith('127.') : address.text === '::1';
}

/** The special range that contains the address, if any. Endpoints and external IPs must not be in one (ValidateNonSpecialIP). */
export function specialRange(address: Address): string | undefined {
  const { family, text } = address;
  const isIPv4 = family === 'IPv4';
  if (text === (isIPv4 ? '0.0.0.0' : '::')) return 'unspecified';
  if (isLoopback(address)) return 'loopback';
  if (isIPv4 ? text.startsWith('169.254.') : /^fe[89ab].:/.test(text)) return 'link-local';
  if (isIPv4 ? text.startsWith('224.0.0.') : /^ff.2:/.test(text)) return 'link-local multicast';
  return undefined;
}

/** The reason why no Service may have the address, although an API server may accept it: packets to it have no single remote destination. */
export function unservableRange(address: Address): string | undefined {
  const { family, text } = address;
  if (text === (family === 'IPv4' ? '0.0.0.0' : '::')) return 'unspecified';
  if (isLoopback(address)) return 'loopback';
  if (text === '255.255.255.255') return 'broadcast';
  const isMulticast = family === 'IPv4' ? MULTICAST.test(text) : text.startsWith('ff');
  return isMulticast ? 'multicast' : undefined;
}

/** 224.0.0.0/4. */
const MULTICAST = /^2(?:2[4-9]|3\d)\./;

/** Why no endpoint may have the address: as no Service may, and link-local, as an API server has it. */
export function unreachableRange(address: Address): string | undefined {
  return unservableRange(address) ?? specialRange(address);
}

export { hostPort } from './ip-family.js';
