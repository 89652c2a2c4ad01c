import { shareOf, withStep } from '../../walk/course.js';
import type { Turn } from '../../walk/turn.js';
import { hostWord } from './bytes.js';
import type { Expression } from './expression.js';
import { jenkinsHash, scaled } from './jenkins-hash.js';
import { load, type KernelCourse } from './kernel-course.js';
import type { ListedRule } from './listed-rule.js';

type KernelTurn = Turn<KernelCourse, ListedRule>;

/** Beyond this, a number is not followed into each of its values. */
export const MAX_BRANCHES = 65_536;
/** Beyond this, values that lead to the same are told as one. */
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
  { registers }: KernelCourse,
): Uint8Array {
  const number = scaled(jenkinsHash(registers.subarray(from, from + length), seed), modulus);
  return hostWord((offset + number) >>> 0);
}

/**
 * Turns that lead to the same as one, as likely as all of them together. What priority a packet has counts where it goes on in
 * another chain, which may look it up; elsewhere it is only the number by which it was sent.
 */
export function joined(turns: readonly KernelTurn[], { modulus }: Drawn): readonly KernelTurn[] {
  if (modulus <= FEW_NUMBERS) return turns;
  const alike = new Map<string, KernelTurn>();
  for (const turn of turns) {
    const { course, to, effect = '' } = turn;
    const { destination, port, mark, verdict = '', priority } = course;
    const further = typeof to === 'string' ? '' : priority;
    const key = [
      typeof to === 'string' ? to : to.verb,
      destination,
      port,
      mark,
      verdict,
      further,
      effect,
    ].join(' ');
    const known = alike.get(key);
    const probability = course.probability + (known?.course.probability ?? 0);
    alike.set(key, { ...(known ?? turn), course: { ...(known ?? turn).course, probability } });
  }
  return [...alike.values()];
}

export function draw(
  { to, modulus, offset }: Drawn,
  course: KernelCourse,
  rule: ListedRule,
): readonly KernelCourse[] {
  if (modulus === 1) return [load(course, to, hostWord(offset))];
  const each = shareOf(course, 1 / modulus);
  const told = (which: string | number) => withStep(each, rule, `draws ${which} of ${modulus}`);
  const one = modulus > FEW_NUMBERS ? told('one') : undefined;
  return Array.from({ length: modulus }, (_, number) =>
    load(one ?? told(number + 1), to, hostWord(offset + number)),
  );
}
