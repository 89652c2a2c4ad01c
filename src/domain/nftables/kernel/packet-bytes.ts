import ipaddr from 'ipaddr.js';
import { ipv4Number, ipv4Text } from '../../net/ipv4-number.js';
import { networkWord, readNetworkWord } from './bytes.js';

/** Four or sixteen bytes, as in a packet. */
export function addressBytes(text: string): Uint8Array {
  const ipv4 = ipv4Number(text);
  return ipv4 === undefined ? Uint8Array.from(ipaddr.IPv6.parse(text).toByteArray()) : networkWord(ipv4);
}

/** Canonical text of four or sixteen bytes. */
export function addressText(bytes: Uint8Array): string {
  return bytes.length === 4
    ? ipv4Text(readNetworkWord(bytes))
    : new ipaddr.IPv6([...bytes]).toRFC5952String();
}
