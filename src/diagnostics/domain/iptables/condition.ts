import type { Surroundings, TablesCourse } from './course.js';

/** One condition of a rule. */
export interface Condition {
  /** As the rule has it. */
  readonly text: string;
  /** Undefined: it cannot be told. */
  holds(course: TablesCourse, surroundings: Surroundings): boolean | undefined;
}

/** Turns an answer round where the rule says so; what cannot be told stays so. */
export function negatedIf(isNegated: boolean, answer: boolean | undefined): boolean | undefined {
  return answer === undefined ? undefined : answer !== isNegated;
}
