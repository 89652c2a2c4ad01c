import type { Protocol } from '../../model/service-port-name.js';
import type { Step } from '../../trace/trace.js';
import type * as walk from '../../walk/course.js';
import type { Ending } from './ending.js';

/** A packet in flight through the rules of the table. */
export interface Course extends walk.Course {
  readonly protocol: Protocol;
  readonly priority: number;
  readonly remembers: Ending['remembers'];
}

/** A rule that is being evaluated. */
export interface Place extends Pick<Step, 'hook' | 'where'> {
  /** The rule as nft lists it. Most rules do nothing, so it is made when it is needed. */
  readonly text: () => string;
  /** How deep the jumps to its chain are. */
  readonly depth: number;
}

/** The course with what a rule did to it. What one rule does in a row is one step. */
export function withStep(course: Course, { hook, where, text }: Place, effect: string): Course {
  const rule = text();
  const { steps, servicePort } = course;
  const last = steps.at(-1);
  const goesOn = last?.hook === hook && last.where === where && last.rule === rule;
  const step: Step = {
    hook,
    where,
    rule,
    effect: goesOn ? `${last.effect}; ${effect}` : effect,
    ...(servicePort !== undefined && { servicePort }),
  };
  return { ...course, steps: [...(goesOn ? steps.slice(0, -1) : steps), step] };
}
