import { append } from '../../../domain/model/maps.js';
import { shareOf, withStep } from '../walk/packet-state.js';
import type { RuleResult } from '../walk/chain-walk.js';
import { hostWord, readHostWord } from '../../../domain/nftables/kernel/bytes.js';
import type { Expression } from '../../../domain/nftables/kernel/ruleset.js';
import { isOurs, load, type KernelPacketState } from './kernel-packet-state.js';
import type { ListedRule } from './listed-rule.js';

type KernelResult = RuleResult<KernelPacketState, ListedRule>;

/** Beyond this, a number is not followed into each of its values. */
export const MAX_BRANCHES = 65_536;
/** Beyond this, each value is not told by itself. */
const FEW_NUMBERS = 512;

type Hash = Extract<Expression, { kind: 'hash' }>;
type Drawn = Extract<Expression, { kind: 'random' | 'hash' }>;

/** Whether the rule of these expressions leaves the number to chance: so it does with a hash of the source port, as any may be. */
export function isDrawn(expression: Expression, rule: readonly Expression[]): expression is Drawn {
  return expression.kind === 'random' || (expression.kind === 'hash' && hashesPort(expression, rule));
}

/** Whether the source port, which a traced packet may have any of, is part of what is hashed. */
export function hashesPort({ from, length }: Hash, rule: readonly Expression[]): boolean {
  return rule.some(
    (each) =>
      each.kind === 'payload' &&
      each.base === 'transport' &&
      each.offset < 2 &&
      each.to >= from &&
      each.to < from + length,
  );
}

export function hashed(
  { from, length, modulus, offset, seed }: Hash,
  { registers }: KernelPacketState,
): Uint8Array {
  const number = scaled(jenkinsHash(registers.subarray(from, from + length), seed), modulus);
  return hostWord((offset + number) >>> 0);
}

/** A packet state for each number that may be drawn. */
export function draw(
  { to, modulus, offset }: Drawn,
  state: KernelPacketState,
  rule: ListedRule,
): readonly KernelPacketState[] {
  const numbered = (drawn: KernelPacketState, number: number) =>
    load(drawn.with({ registers: state.registers.slice() }), to, hostWord(offset + number));
  if (modulus === 1) return [numbered(state, 0)];
  const each = shareOf(state, 1 / modulus);
  const told = (which: string | number) => withStep(each, rule, `draws ${which} of ${modulus}`);
  const one = modulus > FEW_NUMBERS ? told('one') : undefined;
  return Array.from({ length: modulus }, (_, number) => numbered(one ?? told(number + 1), number));
}

/** Results that lead to the same as one, as likely as all of them together. */
export function joined(
  results: readonly KernelResult[],
  { modulus }: Drawn,
  rule: ListedRule,
): readonly KernelResult[] {
  if (modulus === 1) return results;
  const alike = new Map<string, KernelResult[]>();
  // A packet that one of our rules with many numbers did not send on reaches another one, which draws again.
  const drawsAnew = modulus > FEW_NUMBERS && isOurs(rule.table);
  for (const result of results) append(alike, outcomeOf(result, drawsAnew), result);
  return Array.from(alike.values(), (same) => (same.length === 1 ? same[0]! : mergeResults(same, modulus)));
}

/** Identifies results with the same consequences. The number in the priority has none once the packet was sent by it. */
function outcomeOf({ state, to, effect = '', isUncertain }: KernelResult, drawsAnew: boolean): string {
  const { destination, port, mark, verdict = '', priority, isTranslated } = state;
  const isSpent = isTranslated || (drawsAnew && to === 'rule');
  const where = typeof to === 'string' ? to : to.verb;
  return [where, destination, port, mark, verdict, isSpent ? '' : priority, isUncertain, effect].join(' ');
}

function mergeResults(results: readonly KernelResult[], modulus: number): KernelResult {
  const [first] = results as [KernelResult, ...KernelResult[]];
  const { state } = first;
  const drawn = new RegExp(`draws \\w+ of ${modulus}(?!\\d)`);
  const last = state.steps.at(-1);
  const steps = last
    ? state.steps.with(-1, {
        ...last,
        effect: last.effect.replace(drawn, `draws one of ${results.length} of ${modulus}`),
      })
    : state.steps;
  const probability = results.reduce((sum, result) => sum + result.state.probability, 0);
  return { ...first, state: state.with({ steps, probability }) };
}

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
