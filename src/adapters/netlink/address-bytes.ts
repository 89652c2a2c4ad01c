import ipaddr from 'ipaddr.js';
import { NetlinkProtocolError } from './errors.js';

/** The four or sixteen bytes of an address in canonical text. */
export function addressBytes(text: string): Uint8Array {
  if (text.includes(':')) return Uint8Array.from(ipaddr.IPv6.parse(text).toByteArray());
  return Uint8Array.from(text.split('.'), Number);
}

/** Canonical text of the four or sixteen bytes between two positions. */
export function addressText(bytes: Buffer, start: number, end: number): string {
  if (end - start === 4) return `${bytes[start]}.${bytes[start + 1]}.${bytes[start + 2]}.${bytes[start + 3]}`;
  if (end - start !== 16) throw new NetlinkProtocolError(`an address of ${end - start} bytes`);
  return new ipaddr.IPv6([...bytes.subarray(start, end)]).toRFC5952String();
}
