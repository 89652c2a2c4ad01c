import { withStep } from '../walk/course.js';
import {
  accepted,
  dropped,
  marked,
  nextRule,
  refused,
  sent,
  sourceRewritten,
  uncertain,
  type Turn,
} from '../walk/turn.js';
import type { Watch } from '../walk/watch.js';
import { hex, readHostWord, readNetworkHalf, addressText } from '../../../domain/nftables/kernel/bytes.js';
import { draw, hashed, hashesPort, isDrawn, joined, MAX_BRANCHES } from './draws.js';
import type { FindElement } from './elements.js';
import {
  isEffective,
  type Expression,
  type KernelVerdict,
  type KernelElement,
} from '../../../domain/nftables/kernel/ruleset.js';
import { clearRest, isOurs, load, type KernelCourse } from './kernel-course.js';
import type { ListedChains, ListedRule } from './listed-rule.js';
import { readdressed } from './headers.js';
import { addressType, compares, ctValue, metaValue, type Devices } from './register-values.js';
import type { SourceWatch } from './watch/source-watch.js';

type KernelTurn = Turn<KernelCourse, ListedRule>;

/** A course goes on at the next expression, a turn leads elsewhere. */
type Evaluated = KernelCourse | KernelTurn | 'no match';

/** A walk that is watched. */
export interface Watching {
  readonly watch: Watch;
  readonly source: SourceWatch;
}

/** Evaluates rules, expression by expression, as the kernel does. */
export class RuleRun {
  constructor(
    private readonly chains: ListedChains,
    private readonly find: FindElement,
    private readonly devices: Devices,
    private readonly isLocal: (address: string) => boolean,
    private readonly watching?: Watching,
  ) {}

  /** Where the rule leads: several turns where it draws a random number, none where it does not match. */
  meet(rule: ListedRule, course: KernelCourse): readonly KernelTurn[] | undefined {
    course.registers.fill(0);
    return this.from(0, rule, course);
  }

  private from(start: number, rule: ListedRule, first: KernelCourse): readonly KernelTurn[] | undefined {
    const { expressions } = rule;
    const { watching } = this;
    const tells = watching?.source.tellsOf(rule);
    let course = first;
    for (let index = start; index < expressions.length; index++) {
      const expression = expressions[index]!;
      tells?.[index]?.(watching!.watch, course.registers);
      if (isDrawn(expression, expressions) && expression.modulus <= MAX_BRANCHES)
        return joined(
          draw(expression, course, rule).flatMap(
            (drawn) => this.from(index + 1, rule, drawn) ?? [nextRule(drawn)],
          ),
          expression,
          rule,
        );
      const evaluated = this.evaluate(expression, course, rule);
      if (!evaluated) return [notUnderstood(expressions.slice(index), course)];
      if (evaluated === 'no match') return course === first ? undefined : [nextRule(course)];
      if ('to' in evaluated) return [evaluated];
      course = evaluated;
    }
    return course === first ? undefined : [nextRule(course)];
  }

  /** Undefined if it is not known what the expression does. */
  private evaluate(expression: Expression, course: KernelCourse, rule: ListedRule): Evaluated | undefined {
    switch (expression.kind) {
      case 'payload': {
        const { base, offset, length, to } = expression;
        const bytes = course.headers[base];
        return bytes.length < offset + length ? 'no match' : load(course, to, bytes, offset, length);
      }
      case 'meta': {
        const value = metaValue(expression.key, course, this.devices);
        return value && load(course, expression.to, value);
      }
      case 'meta-set':
        return setMeta(expression, course, rule);
      case 'ct':
        return load(course, expression.to, ctValue(expression.key, course));
      case 'fib':
        return load(course, expression.to, this.route(expression, course));
      case 'cmp': {
        const { from, op, value } = expression;
        return test(compares(course.registers, from, op, value), course);
      }
      case 'range': {
        const { from, first, last, inverted } = expression;
        const { registers } = course;
        const isWithin = compares(registers, from, '>=', first) && compares(registers, from, '<=', last);
        return test(isWithin !== inverted, course);
      }
      case 'bitwise': {
        const { from, to, mask, xor } = expression;
        const { registers } = course;
        for (let at = 0; at < mask.length; at++)
          registers[to + at] = (registers[from + at]! & mask[at]!) ^ xor[at]!;
        clearRest(registers, to, mask.length);
        return course;
      }
      case 'byteorder':
        return load(course, expression.to, swapped(expression, course));
      case 'lookup':
        return this.lookUp(expression, course, rule);
      case 'remember':
        return isOurs(rule.table) ? this.remembering(expression, course, rule) : course;
      case 'immediate':
        return load(course, expression.to, expression.value);
      case 'verdict':
        return this.verdict(expression.verdict, course, rule);
      case 'nat':
        return translate(expression, course);
      case 'masquerade':
        return sourceRewritten(course);
      case 'reject':
        return refused(course, 'an error');
      case 'indifferent':
        return course;
      case 'limit':
        return test(!expression.inverted, course);
      case 'hash':
        if (hashesPort(expression, rule.expressions)) return undefined;
        return load(course, expression.to, hashed(expression, course));
      case 'random':
      case 'unknown':
        return undefined;
    }
  }

  private verdict(
    { code, chain: name }: KernelVerdict,
    course: KernelCourse,
    { table }: ListedRule,
  ): Evaluated {
    switch (code) {
      case 'accept':
        return accepted(course);
      case 'drop':
        return dropped(course);
      case 'return':
        return { course, to: 'caller' };
      case 'continue':
        return course;
      case 'queue':
        return uncertain(
          course,
          'hands it to a program, which may do anything with it; taken as if it did not match',
        );
      case 'jump':
      case 'goto': {
        const chain = this.chains.of(table, table.chains.get(name!)!);
        return { course, to: { verb: code, chain }, effect: `${code} ${name}` };
      }
    }
  }

  private remembering(
    { set: name, from, timeoutSeconds }: Extract<Expression, { kind: 'remember' }>,
    course: KernelCourse,
    rule: ListedRule,
  ): KernelCourse {
    const after = withStep(course.with({ isSticky: true }), rule, "remembers the client's endpoint");
    const set = rule.table.sets.get(name);
    if (!this.watching || !set) return after;
    this.watching.watch.affinity(timeoutSeconds || (set.timeoutSeconds ?? 0));
    const key = hex(course.registers.subarray(from, from + set.keyLength));
    return after.with({ memory: new Map([...(course.memory ?? []), [name, new Set([key])]]) });
  }

  private route({ field, result }: Extract<Expression, { kind: 'fib' }>, course: KernelCourse): Uint8Array {
    const { family, source } = course.packet;
    // That packets of this source come in here is known from the routes, so there is a route back.
    if (result === 'exists') return Uint8Array.of(1);
    const address = field === 'saddr' ? source : course.destination;
    return addressType(address, family, this.isLocal(address));
  }

  private lookUp(
    { set: name, from, to, inverted }: Extract<Expression, { kind: 'lookup' }>,
    course: KernelCourse,
    rule: ListedRule,
  ): Evaluated | undefined {
    const { table } = rule;
    const set = table.sets.get(name);
    if (!set) return undefined;
    const element = this.find(table, set, course.registers.slice(from, from + set.keyLength));
    if ((element !== undefined) === inverted) return 'no match';
    const found = element && isOurs(table) ? withServicePort(course, element) : course;
    if (to === undefined) return found;
    if (to === 'verdict')
      return element?.verdict ? this.verdict(element.verdict, found, rule) : nextRule(found);
    return element?.value && load(found, to, element.value);
  }
}

function test(matches: boolean, course: KernelCourse): Evaluated {
  return matches ? course : 'no match';
}

/** Rules that decide nothing need not be understood. */
function notUnderstood([first, ...rest]: readonly Expression[], course: KernelCourse): KernelTurn {
  if (!rest.some(isEffective) && first!.kind !== 'unknown') return nextRule(course);
  const name = first!.kind === 'unknown' ? first!.name : first!.kind;
  return uncertain(course, `is not understood (${name}), and taken as if it did not match`);
}

function withServicePort(course: KernelCourse, { comment }: KernelElement): KernelCourse {
  return comment === undefined ? course : course.with({ servicePort: comment });
}

function setMeta(
  { key, from }: Extract<Expression, { kind: 'meta-set' }>,
  course: KernelCourse,
  rule: ListedRule,
): KernelCourse {
  const value = readHostWord(course.registers, from);
  if (key === 'priority') return course.with({ priority: value });
  const { course: after, effect } = marked(course, value);
  if (effect === undefined) return after;
  if (rule.isForeign) return withStep(after, rule, effect);
  // Rules of ours mark what is to be masqueraded, and take the mark away before the packet leaves.
  return (value & ~course.mark) === 0 ? after : withStep(after, rule, 'marks it to be masqueraded');
}

function swapped(
  { from, length, size }: Extract<Expression, { kind: 'byteorder' }>,
  { registers }: KernelCourse,
): Uint8Array {
  return Uint8Array.from({ length }, (_, at) => registers[from + at - 2 * (at % size) + size - 1]!);
}

function translate(
  { type, address, port }: Extract<Expression, { kind: 'nat' }>,
  course: KernelCourse,
): KernelTurn {
  if (type === 'snat') return sourceRewritten(course);
  const { registers, headers } = course;
  const length = course.destination.includes(':') ? 16 : 4;
  const destination =
    address === undefined ? course.destination : addressText(registers.subarray(address, address + length));
  const newPort = port === undefined ? course.port : readNetworkHalf(registers, port);
  return sent(course.with({ headers: readdressed(headers, destination, newPort) }), destination, newPort);
}
