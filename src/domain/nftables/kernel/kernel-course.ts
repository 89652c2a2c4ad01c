import type { Course } from '../../walk/course.js';
import { TABLE_NAME } from '../layout/table.js';
import type { Headers } from './packet-bytes.js';
import type { KernelTable } from './ruleset.js';

/** A packet in flight through the rules of the kernel. */
export interface KernelCourse extends Course {
  readonly headers: Headers;
  /** Those of the rule that is being evaluated, which begins with empty ones. Courses share them, but those between which a rule draws. */
  readonly registers: Uint8Array;
  readonly priority: number;
}

/** Whether it is the table of this program. */
export function isOurs({ name, family }: KernelTable): boolean {
  return name === TABLE_NAME && family !== 'inet';
}

export function newRegisters(): Uint8Array {
  return new Uint8Array(64);
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
