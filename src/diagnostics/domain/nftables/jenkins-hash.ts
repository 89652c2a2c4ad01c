import { readHostWord } from '../../../domain/nftables/kernel/bytes.js';

/** JHASH_INITVAL of linux/jhash.h. */
const INITIAL = 0xdeadbeef;
const BLOCK = 12;

/**
 * The hash of Bob Jenkins (lookup3) as the kernel has it in linux/jhash.h, 32 bits.
 * @param bytes at most a few words: keys of packets
 */
export function jenkinsHash(bytes: Uint8Array, seed: number): number {
  let a = (INITIAL + bytes.length + seed) | 0;
  let b = a;
  let c = a;
  let at = 0;
  for (; bytes.length - at > BLOCK; at += BLOCK) {
    a = (a + readHostWord(bytes, at)) | 0;
    b = (b + readHostWord(bytes, at + 4)) | 0;
    c = (c + readHostWord(bytes, at + 8)) | 0;
    [a, b, c] = mixedWords(a, b, c);
  }
  if (at === bytes.length) return c >>> 0;
  const last = new Uint8Array(BLOCK);
  last.set(bytes.subarray(at));
  return finalWord(
    (a + readHostWord(last)) | 0,
    (b + readHostWord(last, 4)) | 0,
    (c + readHostWord(last, 8)) | 0,
  );
}

/** The number below `modulus` that the kernel makes of 32 bits (`reciprocal_scale`). */
export function scaled(hash: number, modulus: number): number {
  return Number((BigInt(hash) * BigInt(modulus)) >> 32n);
}

/** `__jhash_mix`. */
function mixedWords(first: number, second: number, third: number): [number, number, number] {
  let [a, b, c] = [first, second, third];
  a = (a - c) ^ rotated(c, 4);
  c = (c + b) | 0;
  b = (b - a) ^ rotated(a, 6);
  a = (a + c) | 0;
  c = (c - b) ^ rotated(b, 8);
  b = (b + a) | 0;
  a = (a - c) ^ rotated(c, 16);
  c = (c + b) | 0;
  b = (b - a) ^ rotated(a, 19);
  a = (a + c) | 0;
  c = (c - b) ^ rotated(b, 4);
  b = (b + a) | 0;
  return [a, b, c];
}

/** `__jhash_final`. */
function finalWord(first: number, second: number, third: number): number {
  let [a, b, c] = [first, second, third];
  c = ((c ^ b) - rotated(b, 14)) | 0;
  a = ((a ^ c) - rotated(c, 11)) | 0;
  b = ((b ^ a) - rotated(a, 25)) | 0;
  c = ((c ^ b) - rotated(b, 16)) | 0;
  a = ((a ^ c) - rotated(c, 4)) | 0;
  b = ((b ^ a) - rotated(a, 14)) | 0;
  c = ((c ^ b) - rotated(b, 24)) | 0;
  return c >>> 0;
}

function rotated(word: number, bits: number): number {
  return (word << bits) | (word >>> (32 - bits));
}
