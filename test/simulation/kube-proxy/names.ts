import { createHash } from 'node:crypto';

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
const BITS = 5;

/** The first letters of a text's SHA-256 in Base32, from which kube-proxy makes names. */
export function hashOf(text: string, letters: number): string {
  const bits = [...createHash('sha256').update(text).digest()]
    .map((byte) => byte.toString(2).padStart(8, '0'))
    .join('');
  return Array.from(
    { length: letters },
    (_, index) => LETTERS[Number.parseInt(bits.slice(index * BITS, (index + 1) * BITS), 2)],
  ).join('');
}
