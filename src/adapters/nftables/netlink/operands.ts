import { safeInterface, safeNumber } from '../../../domain/nftables/safe-text.js';

/**
 * The operands of expressions, as bytes. Values computed by the kernel are in the host's byte order, packet data in the
 * network's.
 */

const INTERFACE_NAME_LENGTH = 16;

/** 32 bits that the kernel computed. Negative numbers as two's complement. */
export function hostWord(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value >>> 0);
  return bytes;
}

/** 32 bits, as in a packet. */
export function networkWord(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

/** Throws UnsafeTextError if it is not a port. */
export function networkPort(port: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(safeNumber('port', port, 0, 65535));
  return bytes;
}

/** A mask of this many bytes whose first bits are ones. */
export function maskBytes(length: number, prefixLength: number): Buffer {
  return Buffer.from(
    Array.from(
      { length },
      (_, index) => 0xff & (0xff00 >> Math.min(8, Math.max(0, prefixLength - index * 8))),
    ),
  );
}

/** A whole name is compared with its padding, so that it does not match as a prefix. Throws UnsafeTextError. */
export function interfaceBytes(name: string, wildcard: boolean): Buffer {
  const bytes = Buffer.from(safeInterface(name));
  return wildcard ? bytes : Buffer.concat([bytes], INTERFACE_NAME_LENGTH);
}
