import type { Step } from '../../trace/trace.js';
import type { HookName, Traveler } from '../../walk/hook-path.js';
import type { Headers } from './packet-bytes.js';
import { TABLE_NAME } from '../layout/table.js';
import type { KernelTable } from './ruleset.js';

/** A packet in flight through the rules of the kernel. */
export interface KernelCourse extends Traveler {
  readonly headers: Headers;
  readonly port: number;
  /** Those of the rule that is being evaluated. */
  readonly registers: Buffer;
  readonly mark: number;
  readonly priority: number;
  /** The destination of the connection was translated, or its source. Each happens once. */
  readonly translated: boolean;
  readonly masquerade: boolean;
  readonly sticky: boolean;
  readonly probability: number;
  readonly steps: readonly Step[];
  /** The service port whose frontend the packet was sent to, once a rule has found it. */
  readonly servicePort?: string;
}

/** A rule that is being evaluated. */
export interface KernelPlace {
  readonly hook: HookName;
  readonly table: KernelTable;
  readonly chain: string;
  /** The rule as nft lists it. Most rules do nothing, so it is made when it is needed. */
  readonly text: () => string;
  /** How deep the jumps to its chain are. */
  readonly depth: number;
}

/** The course with what a rule did to it. What one rule does in a row is one step. */
export function withKernelStep(
  course: KernelCourse,
  { hook, table, chain, text }: KernelPlace,
  effect: string,
  marks: Pick<Step, 'isUncertain'> = {},
): KernelCourse {
  const { steps, servicePort } = course;
  const rule = text();
  const where = `${table.family} ${table.name} ${chain}`;
  const last = steps.at(-1);
  const goesOn = last?.hook === hook && last.where === where && last.rule === rule;
  const step: Step = {
    hook,
    where,
    rule,
    effect: goesOn ? `${last.effect}; ${effect}` : effect,
    ...(servicePort !== undefined && isOurs(table) && { servicePort }),
    ...(!isOurs(table) && { isForeign: true }),
    ...marks,
  };
  return { ...course, steps: [...(goesOn ? steps.slice(0, -1) : steps), step] };
}

/** Whether it is the table of this program. */
export function isOurs({ name, family }: KernelTable): boolean {
  return name === TABLE_NAME && family !== 'inet';
}
