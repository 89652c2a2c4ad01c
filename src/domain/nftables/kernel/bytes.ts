/** Bytes of packets and registers. Values that the kernel computes are in its own byte order, of which only the lower first is known. */

import ipaddr from 'ipaddr.js';
import { ipv4Number, ipv4Text } from '../../net/address.js';

/** 32 bits in the kernel's own byte order. */
export function hostWord(value: number): Uint8Array {
  const bytes = new Uint8Array(4);
  for (let at = 0; at < 4; at++) bytes[at] = value >>> (8 * at);
  return bytes;
}

export function readHostWord(bytes: Uint8Array, at = 0): number {
  return (bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)) >>> 0;
}

/** 16 bits in the order of the network. */
export function networkHalf(value: number): Uint8Array {
  return Uint8Array.of(value >>> 8, value);
}

export function readNetworkHalf(bytes: Uint8Array, at = 0): number {
  return (bytes[at]! << 8) | bytes[at + 1]!;
}

/** 32 bits in the order of the network. */
export function networkWord(value: number): Uint8Array {
  return Uint8Array.of(value >>> 24, value >>> 16, value >>> 8, value);
}

function readNetworkWord(bytes: Uint8Array): number {
  return ((bytes[0]! << 24) | (bytes[1]! << 16) | (bytes[2]! << 8) | bytes[3]!) >>> 0;
}

/** Byte by byte: negative, zero or positive, as the first is less than the second, the same or greater. */
export function compareBytes(one: Uint8Array, other: Uint8Array): number {
  const length = Math.min(one.length, other.length);
  for (let at = 0; at < length; at++) if (one[at] !== other[at]) return one[at]! - other[at]!;
  return one.length - other.length;
}

/** A character for each byte: to find values by bytes. */
export function byteText(bytes: Uint8Array): string {
  return String.fromCharCode(...bytes);
}

/** `0x0a000001`. */
export function hex(bytes: Uint8Array): string {
  let text = '0x';
  for (const byte of bytes) text += DIGITS[byte]!;
  return text;
}

const DIGITS: readonly string[] = Array.from({ length: 256 }, (_, byte) =>
  byte.toString(16).padStart(2, '0'),
);

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

/** A mask of this many bytes whose first bits are ones. */
export function maskBytes(length: number, bits: number): Uint8Array {
  return Uint8Array.from(
    { length },
    (_, index) => 0xff & (0xff00 >> Math.min(8, Math.max(0, bits - index * 8))),
  );
}

const INTERFACE_NAME_LENGTH = 16;

/** The name of an interface as rules compare it: whole with its padding, so that it does not match as a prefix. */
export function interfaceBytes(name: string, isPrefix: boolean): Uint8Array {
  const bytes = new TextEncoder().encode(name);
  if (isPrefix) return bytes;
  const whole = new Uint8Array(INTERFACE_NAME_LENGTH);
  whole.set(bytes);
  return whole;
}
