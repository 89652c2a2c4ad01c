import ipaddr from 'ipaddr.js';
import { AF } from './numbers.js';

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
  return bytes.length === 4 ? bytes.join('.') : new ipaddr.IPv6([...bytes]).toRFC5952String();
}

export function familyOf(address: string): typeof AF.INET | typeof AF.INET6 {
  return address.includes(':') ? AF.INET6 : AF.INET;
}

/** Bytes of an address of a family. */
export function addressLength(family: number): 4 | 16 {
  return family === AF.INET6 ? 16 : 4;
}
