import ipaddr from 'ipaddr.js';
import { AF_INET, AF_INET6 } from './numbers.js';

/** The same few addresses are read again and again. */
const known = new Map<string, Buffer>();
const MOST_KNOWN = 10_000;

/** The four or sixteen bytes of an address, which must not be changed. */
export function addressBytes(text: string): Buffer {
  let bytes = known.get(text);
  if (!bytes) {
    if (known.size >= MOST_KNOWN) known.clear();
    bytes = Buffer.from(ipaddr.parse(text).toByteArray());
    known.set(text, bytes);
  }
  return bytes;
}

/** Canonical text of four or sixteen bytes. */
export function addressText(bytes: Uint8Array): string {
  if (bytes.length === 4) return `${bytes[0]}.${bytes[1]}.${bytes[2]}.${bytes[3]}`;
  return new ipaddr.IPv6([...bytes]).toRFC5952String();
}

export function familyOf(address: string): typeof AF_INET | typeof AF_INET6 {
  return address.includes(':') ? AF_INET6 : AF_INET;
}
