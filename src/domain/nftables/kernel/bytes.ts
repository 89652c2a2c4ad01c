/** Bytes of packets and registers. Values that the kernel computes are in its own byte order, of which only the lower first is known. */

/** 32 bits in the kernel's own byte order. */
export function hostWord(value: number): Uint8Array {
  const bytes = new Uint8Array(4);
  viewOf(bytes).setUint32(0, value, true);
  return bytes;
}

export function readHostWord(bytes: Uint8Array, at = 0): number {
  return viewOf(bytes).getUint32(at, true);
}

/** 16 bits in the order of the network. */
export function networkHalf(value: number): Uint8Array {
  return Uint8Array.of(value >>> 8, value);
}

export function readNetworkHalf(bytes: Uint8Array, at = 0): number {
  return viewOf(bytes).getUint16(at);
}

/** Byte by byte: negative, zero or positive, as the first is less than the second, the same or greater. */
export function compareBytes(one: Uint8Array, other: Uint8Array): number {
  const length = Math.min(one.length, other.length);
  for (let at = 0; at < length; at++) if (one[at] !== other[at]) return one[at]! - other[at]!;
  return one.length - other.length;
}

/** `0x0a000001`. */
export function hex(bytes: Uint8Array): string {
  return `0x${Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}

function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}
