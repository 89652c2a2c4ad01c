import ipaddr from 'ipaddr.js';
import { AF_INET, AF_INET6 } from './numbers.js';

/** The four or sixteen bytes of an address. */
export function addressBytes(text: string): Buffer {
  return Buffer.from(ipaddr.parse(text).toByteArray());
}

/** Canonical text of four or sixteen bytes. */
export function addressText(bytes: Uint8Array): string {
  if (bytes.length === 4) return bytes.join('.');
  return new ipaddr.IPv6([...bytes]).toRFC5952String();
}

export function familyOf(address: string): typeof AF_INET | typeof AF_INET6 {
  return address.includes(':') ? AF_INET6 : AF_INET;
}
