import { append } from '../../../domain/model/maps.js';
import { shareOf, withStep } from '../walk/course.js';
import type { Turn } from '../walk/turn.js';
import { hostWord } from '../../../domain/nftables/kernel/bytes.js';
import type { Expression } from '../../../domain/nftables/kernel/ruleset.js';
import { jenkinsHash, scaled } from './jenkins-hash.js';
import { isOurs, load, type KernelCourse } from './kernel-course.js';
import type { ListedRule } from './listed-rule.js';

type KernelTurn = Turn<KernelCourse, ListedRule>;

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
  { registers }: KernelCourse,
): Uint8Array {
  const number = scaled(jenkinsHash(registers.subarray(from, from + length), seed), modulus);
  return hostWord((offset + number) >>> 0);
}

/** The courses of all numbers that may be drawn. */
export function draw(
  { to, modulus, offset }: Drawn,
  course: KernelCourse,
  rule: ListedRule,
): readonly KernelCourse[] {
  const numbered = (drawn: KernelCourse, number: number) =>
    load(drawn.with({ registers: course.registers.slice() }), to, hostWord(offset + number));
  if (modulus === 1) return [numbered(course, 0)];
  const each = shareOf(course, 1 / modulus);
  const told = (which: string | number) => withStep(each, rule, `draws ${which} of ${modulus}`);
  const one = modulus > FEW_NUMBERS ? told('one') : undefined;
  return Array.from({ length: modulus }, (_, number) => numbered(one ?? told(number + 1), number));
}

/** Turns that lead to the same as one, as likely as all of them together. */
export function joined(
  turns: readonly KernelTurn[],
  { modulus }: Drawn,
  rule: ListedRule,
): readonly KernelTurn[] {
  if (modulus === 1) return turns;
  const alike = new Map<string, KernelTurn[]>();
  // What a rule of ours with many numbers did not send on meets another one, which draws anew.
  const drawsAnew = modulus > FEW_NUMBERS && isOurs(rule.table);
  for (const turn of turns) append(alike, outcomeOf(turn, drawsAnew), turn);
  return Array.from(alike.values(), (same) => (same.length === 1 ? same[0]! : together(same, modulus)));
}

/** What matters of a turn to what becomes of the packet. The number in its priority does not once it has been sent by it. */
function outcomeOf({ course, to, effect = '', isUncertain }: KernelTurn, drawsAnew: boolean): string {
  const { destination, port, mark, verdict = '', priority, isTranslated } = course;
  const isSpent = isTranslated || (drawsAnew && to === 'rule');
  const where = typeof to === 'string' ? to : to.verb;
  return [where, destination, port, mark, verdict, isSpent ? '' : priority, isUncertain, effect].join(' ');
}

function together(turns: readonly KernelTurn[], modulus: number): KernelTurn {
  const [first] = turns as [KernelTurn, ...KernelTurn[]];
  const { course } = first;
  const drawn = new RegExp(`draws \\w+ of ${modulus}(?!\\d)`);
  const last = course.steps.at(-1);
  const steps = last
    ? course.steps.with(-1, {
        ...last,
        effect: last.effect.replace(drawn, `draws one of ${turns.length} of ${modulus}`),
      })
    : course.steps;
  const probability = turns.reduce((sum, turn) => sum + turn.course.probability, 0);
  return { ...first, course: course.with({ steps, probability }) };
}
