import { hostPort } from '../../net/address.js';
import type { Packet } from '../../trace/packet.js';
import { isEffective, type Expression, type KernelVerdict } from './expression.js';
import type { ElementStore } from './elements.js';
import { isOurs, withKernelStep, type KernelCourse, type KernelPlace } from './kernel-course.js';
import { addressText, readdressed } from './packet-bytes.js';
import { addressType, compares, ctValue, hostWord, metaValue, type Devices } from './register-values.js';
import type { KernelElement } from './ruleset.js';

/** Where evaluation continues: at the next expression, at the next rule, after all rules of the base chain, or with a verdict. */
export interface RuleTurn {
  readonly course: KernelCourse;
  readonly to: 'expression' | 'rule' | 'end' | KernelVerdict;
}

/** Beyond this, a random number is not followed into each of its values. */
const MAX_BRANCHES = 8192;
const REGISTERS_LENGTH = 64;

/** Evaluates rules, expression by expression, as the kernel does. */
export class RuleRun {
  constructor(
    private readonly packet: Packet,
    private readonly elements: ElementStore,
    private readonly devices: Devices,
    private readonly isLocal: (address: string) => boolean,
  ) {}

  /** Where the rule leads: several turns where it draws a random number. */
  evaluate(
    expressions: readonly Expression[],
    course: KernelCourse,
    place: KernelPlace,
  ): readonly RuleTurn[] {
    return this.from(0, expressions, { ...course, registers: Buffer.alloc(REGISTERS_LENGTH) }, place);
  }

  private from(
    start: number,
    expressions: readonly Expression[],
    first: KernelCourse,
    place: KernelPlace,
  ): readonly RuleTurn[] {
    let course = first;
    for (let index = start; index < expressions.length; index++) {
      const expression = expressions[index]!;
      if (expression.kind === 'random' && expression.modulus <= MAX_BRANCHES)
        return this.draw(expression, course, place).flatMap((drawn) =>
          this.from(index + 1, expressions, drawn, place),
        );
      const turn = this.evaluateOne(expression, course, place);
      if (!turn) return [notUnderstood(expressions.slice(index), course, place)];
      if (turn.to !== 'expression') return [turn];
      course = turn.course;
    }
    return [{ course, to: 'rule' }];
  }

  /** Undefined if it is not known what the expression does. */
  private evaluateOne(
    expression: Expression,
    course: KernelCourse,
    place: KernelPlace,
  ): RuleTurn | undefined {
    switch (expression.kind) {
      case 'payload': {
        const { base, offset, length, to } = expression;
        const bytes = course.headers[base].subarray(offset, offset + length);
        return bytes.length < length ? { course, to: 'rule' } : goOn(load(course, to, bytes));
      }
      case 'meta': {
        const value = metaValue(expression.key, course, this.packet, place.hook, this.devices);
        return value && goOn(load(course, expression.to, value));
      }
      case 'meta-set':
        return goOn(setMeta(expression, course, place));
      case 'ct':
        return goOn(load(course, expression.to, ctValue(expression.key, course, this.packet)));
      case 'fib':
        return goOn(load(course, expression.to, this.route(expression, course)));
      case 'cmp': {
        const { from, op, value } = expression;
        return test(compares(course.registers.subarray(from), op, value), course);
      }
      case 'range': {
        const { from, first, last, inverted } = expression;
        const register = course.registers.subarray(from);
        const isWithin = compares(register, '>=', first) && compares(register, '<=', last);
        return test(isWithin !== inverted, course);
      }
      case 'bitwise': {
        const { from, to, mask, xor } = expression;
        const bytes = Buffer.alloc(mask.length);
        for (let at = 0; at < mask.length; at++)
          bytes[at] = (course.registers[from + at]! & mask[at]!) ^ xor[at]!;
        return goOn(load(course, to, bytes));
      }
      case 'byteorder':
        return goOn(load(course, expression.to, swapped(expression, course)));
      case 'lookup':
        return this.lookUp(expression, course, place);
      case 'remember':
        return goOn(isOurs(place.table) ? remembering(course, place) : course);
      case 'immediate':
        return goOn(load(course, expression.to, expression.value));
      case 'verdict':
        return { course, to: expression.verdict };
      case 'nat':
        return translate(expression, course, place);
      case 'masquerade':
        return rewriteSource(course, place);
      case 'reject': {
        const refused: KernelCourse = { ...course, verdict: 'refused' };
        return { course: withKernelStep(refused, place, 'answers with an error'), to: 'end' };
      }
      case 'indifferent':
        return goOn(course);
      case 'limit':
        return test(!expression.inverted, course);
      case 'random':
      case 'unknown':
        return undefined;
    }
  }

  private draw(
    { to, modulus, offset }: Extract<Expression, { kind: 'random' }>,
    course: KernelCourse,
    place: KernelPlace,
  ): readonly KernelCourse[] {
    if (modulus === 1) return [load(course, to, hostWord(offset))];
    return Array.from({ length: modulus }, (_, number) => {
      const drawn = load(course, to, hostWord(offset + number));
      const probability = course.probability / modulus;
      return withKernelStep({ ...drawn, probability }, place, `draws ${number + 1} of ${modulus}`);
    });
  }

  private route({ field, result }: Extract<Expression, { kind: 'fib' }>, course: KernelCourse): Buffer {
    const { family, source } = this.packet;
    // That packets of this source come in here is known from the routes, so there is a route back.
    if (result === 'exists') return Buffer.of(1);
    const address = field === 'saddr' ? source : course.destination;
    return addressType(address, family, this.isLocal(address));
  }

  private lookUp(
    { set: name, from, to, inverted }: Extract<Expression, { kind: 'lookup' }>,
    course: KernelCourse,
    { table }: KernelPlace,
  ): RuleTurn | undefined {
    const set = table.sets.get(name);
    if (!set) return undefined;
    const key = Buffer.from(course.registers.subarray(from, from + set.keyLength));
    const element = this.elements.find(table, set, key);
    if ((element !== undefined) === inverted) return { course, to: 'rule' };
    const found = element && isOurs(table) ? withServicePort(course, element) : course;
    if (to === undefined) return goOn(found);
    if (to === 'verdict') return { course: found, to: element?.verdict ?? { code: 'continue' } };
    return element?.value && goOn(load(found, to, element.value));
  }
}

function goOn(course: KernelCourse): RuleTurn {
  return { course, to: 'expression' };
}

function test(matches: boolean, course: KernelCourse): RuleTurn {
  return { course, to: matches ? 'expression' : 'rule' };
}

/** Whole words of registers are written, as the kernel does. */
function load(course: KernelCourse, to: number, value: Buffer): KernelCourse {
  const registers = Buffer.from(course.registers);
  registers.fill(0, to, to + Math.ceil(value.length / 4) * 4);
  registers.set(value, to);
  return { ...course, registers };
}

/** Rules that decide nothing need not be understood. */
function notUnderstood(rest: readonly Expression[], course: KernelCourse, place: KernelPlace): RuleTurn {
  if (!rest.slice(1).some(isEffective) && rest[0]!.kind !== 'unknown') return { course, to: 'rule' };
  const name = rest[0]!.kind === 'unknown' ? rest[0]!.name : rest[0]!.kind;
  const effect = `is not understood (${name}), and taken as if it did not match`;
  return { course: withKernelStep(course, place, effect, { isUncertain: true }), to: 'rule' };
}

function withServicePort(course: KernelCourse, { comment }: KernelElement): KernelCourse {
  return comment === undefined ? course : { ...course, servicePort: comment };
}

function remembering(course: KernelCourse, place: KernelPlace): KernelCourse {
  return withKernelStep({ ...course, sticky: true }, place, "remembers the client's endpoint");
}

function setMeta(
  { key, from }: Extract<Expression, { kind: 'meta-set' }>,
  course: KernelCourse,
  place: KernelPlace,
): KernelCourse {
  const value = course.registers.readUInt32LE(from);
  if (key === 'priority') return { ...course, priority: value };
  const mark = `0x${value.toString(16)}`;
  return value === course.mark
    ? course
    : withKernelStep({ ...course, mark: value }, place, `sets the mark to ${mark}`);
}

function swapped(
  { from, length, size }: Extract<Expression, { kind: 'byteorder' }>,
  { registers }: KernelCourse,
): Buffer {
  const bytes = Buffer.from(registers.subarray(from, from + length));
  if (size === 2) return bytes.swap16();
  return size === 8 ? bytes.swap64() : bytes.swap32();
}

function translate(
  { type, address, port }: Extract<Expression, { kind: 'nat' }>,
  course: KernelCourse,
  place: KernelPlace,
): RuleTurn {
  if (type === 'snat') return rewriteSource(course, place);
  const length = course.destination.includes(':') ? 16 : 4;
  const destination =
    address === undefined
      ? course.destination
      : addressText(course.registers.subarray(address, address + length));
  const newPort = port === undefined ? course.port : course.registers.readUInt16BE(port);
  const translated: KernelCourse = {
    ...course,
    destination,
    port: newPort,
    translated: true,
    headers: readdressed(course.headers, destination, newPort),
  };
  return {
    course: withKernelStep(translated, place, `sends it to ${hostPort(destination, newPort)}`),
    to: 'end',
  };
}

function rewriteSource(course: KernelCourse, place: KernelPlace): RuleTurn {
  const rewritten = { ...course, masquerade: true };
  return {
    course: withKernelStep(rewritten, place, 'rewrites the source to an address of this node'),
    to: 'end',
  };
}
