import { withStep, type Course, type Place } from './course.js';
import { dropped, type Chain, type Turn } from './turn.js';

/** Chains call others. No kernel takes as many. */
const MAX_DEPTH = 256;

/** Evaluates chains, whatever their rules are made of. One course becomes several where a rule leaves something to chance. */
export class ChainWalk<C extends Course, R extends Place> {
  /**
   * @param meet what a rule makes of a packet; several turns, whose probabilities add up to that of the course, where chance decides.
   *   Undefined: nothing, as most rules do
   */
  constructor(private readonly meet: (rule: R, course: C) => readonly Turn<C, R>[] | undefined) {}

  /**
   * What becomes of a packet in a base chain, or a built-in one.
   * @param policy drops what no rule decides about; without it that goes on
   */
  base(chain: Chain<R>, course: C, policy?: Place): readonly C[] {
    return this.walk(chain, course, 0).map(({ course: after, to }) =>
      policy && to !== 'end'
        ? withStep(dropped(after).course, policy, 'drops it, as no rule decided otherwise')
        : after,
    );
  }

  /** What no rule took returns to the caller. */
  private walk({ rules }: Chain<R>, start: C, depth: number): readonly Turn<C, R>[] {
    const left: Turn<C, R>[] = [];
    let courses: readonly C[] = [start];
    for (const rule of rules) {
      let next: C[] | undefined;
      for (let at = 0; at < courses.length; at++) {
        const course = courses[at]!;
        const turns = this.meet(rule, course);
        if (turns) next ??= courses.slice(0, at);
        if (!turns) next?.push(course);
        else for (const turn of turns) this.take(rule, turn, depth, next!, left);
      }
      courses = next ?? courses;
      if (courses.length === 0) break;
    }
    for (const course of courses) left.push({ course, to: 'caller' });
    return left;
  }

  /**
   * Goes where a rule led.
   * @param next gets the courses that come to the next rule
   * @param left gets those that leave the chain
   */
  private take(rule: R, turn: Turn<C, R>, depth: number, next: C[], left: Turn<C, R>[]): void {
    const { course, to, effect, isUncertain } = turn;
    const met = effect === undefined ? course : withStep(course, rule, effect, isUncertain);
    if (to === 'rule') next.push(met);
    else if (typeof to === 'string') left.push({ course: met, to });
    else if (depth === MAX_DEPTH) {
      const lost = `cannot tell where the ${to.verb} leads; taken as if it did nothing`;
      next.push(withStep(course, rule, lost, true));
    } else
      for (const { course: walked, to: end } of this.walk(to.chain, met, depth + 1)) {
        // A jump that led to nothing is no step.
        const isIdle = walked.steps === met.steps && met.steps !== course.steps;
        const after = isIdle ? walked.with({ steps: course.steps }) : walked;
        if (to.verb === 'jump' && end === 'caller') next.push(after);
        else left.push({ course: after, to: end });
      }
  }
}
