import { Course, type CourseState } from '../walk/course.js';
import { TABLE_NAME } from '../../../domain/nftables/layout/table.js';
import type { Headers } from './headers.js';
import type { KernelTable } from '../../../domain/nftables/kernel/ruleset.js';

/** A packet in flight through the rules of the kernel. */
export class KernelCourse extends Course {
  /**
   * @param registers those of the rule that is being evaluated, which begins with empty ones; courses share them, but those between
   *   which a rule draws
   */
  constructor(
    state: CourseState,
    readonly headers: Headers,
    readonly registers: Uint8Array = new Uint8Array(REGISTERS_LENGTH),
    readonly priority: number = 0,
  ) {
    super(state);
  }

  override with(changes: Partial<Omit<KernelCourse, 'with'>>): this {
    const { headers, registers, priority } = this;
    return Object.assign(new KernelCourse(this, headers, registers, priority), changes) as this;
  }
}

const REGISTERS_LENGTH = 64;

/** Whether it is the table of this program. */
export function isOurs({ name, family }: KernelTable): boolean {
  return name === TABLE_NAME && family !== 'inet';
}

/**
 * Puts a value into the registers of the course. Whole words are written, as the kernel does.
 * @param length of the part of the bytes that begins at `from`
 */
export function load(
  course: KernelCourse,
  to: number,
  bytes: Uint8Array,
  from = 0,
  length = bytes.length,
): KernelCourse {
  const { registers } = course;
  // For so few bytes this takes a fraction of what set and fill take.
  for (let at = 0; at < length; at++) registers[to + at] = bytes[from + at]!;
  clearRest(registers, to, length);
  return course;
}

/** Of the last word of what was written. */
export function clearRest(registers: Uint8Array, to: number, length: number): void {
  for (let at = length; at % 4 !== 0; at++) registers[to + at] = 0;
}
