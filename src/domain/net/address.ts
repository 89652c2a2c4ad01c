import ipaddr from 'ipaddr.js';
import type { IpFamily } from './ip-family.js';

export { hostPort } from './host-port.js';

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

/** What `localhost` means. */
export const LOCALHOST: Readonly<Record<IpFamily, string>> = { IPv4: '127.0.0.1', IPv6: '::1' };

export function isLoopback(address: Address): boolean {
  return address.family === 'IPv4' ? address.text.startsWith('127.') : address.text === '::1';
}
