import type { Course } from '../../walk/course.js';
import { TABLE_NAME } from '../layout/table.js';
import type { Headers } from './packet-bytes.js';
import type { Origins } from './source-watch.js';
import type { KernelTable } from './ruleset.js';

/** A packet in flight through the rules of the kernel. */
export interface KernelCourse extends Course {
  readonly headers: Headers;
  /** Those of the rule that is being evaluated, which begins with empty ones. Courses share them, but those between which a rule draws. */
  readonly registers: Uint8Array;
  readonly priority: number;
  /** What the registers hold of the packet's source; only where the walk is watched. */
  readonly origins?: Origins | undefined;
}

/** Whether it is the table of this program. */
export function isOurs({ name, family }: KernelTable): boolean {
  return name === TABLE_NAME && family !== 'inet';
}

export function newRegisters(): Uint8Array {
  return new Uint8Array(64);
}

/** Puts a value into the registers of the course. Whole words are written, as the kernel does. */
export function load(course: KernelCourse, to: number, value: Uint8Array): KernelCourse {
  const { registers } = course;
  registers.fill(0, to + value.length, to + Math.ceil(value.length / 4) * 4);
  registers.set(value, to);
  return course;
}
