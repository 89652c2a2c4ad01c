import type { Step } from '../../trace/trace.js';
import { withStep, type Course, type Surroundings } from './course.js';
import { effectOf, shareText } from './effects.js';
import type { RuleSource, WalkedChain } from './rule-source.js';
import type { WalkedRule } from './rule.js';

/** Where rules are evaluated. */
export interface Place {
  /** `prerouting`, `input`… */
  readonly hook: string;
  readonly table: string;
}

/** What a rule or a chain makes of a packet: where it goes on, with all that chance may lead to. */
interface Parting {
  /** At the next rule. */
  readonly goingOn: readonly Course[];
  /** In the calling chain. */
  readonly returned: readonly Course[];
  /** Nowhere else in this table. */
  readonly ended: readonly Course[];
}

/** Rules call chains, which call others. No kernel takes as many. */
const MAX_DEPTH = 256;

/** Evaluates the chains of tables. One course becomes several where a rule applies by chance. */
export class ChainWalk {
  /** The lists of clients that rules of table nat asked. */
  private readonly asked = new Set<string>();

  constructor(
    private readonly rules: RuleSource,
    private readonly surroundings: Surroundings,
  ) {}

  /** What becomes of a packet in a built-in chain. Where the table has no such chain, nothing. */
  builtIn(place: Place, name: string, course: Course): readonly Course[] {
    const chain = this.rules.chain(place.table, name);
    if (!chain) return [course];
    const { returned, ended } = this.walk(chain, place, course, 0);
    if (chain.policy !== 'DROP') return [...ended, ...returned];
    const step: Step = {
      hook: place.hook,
      where: `${place.table} ${name}`,
      rule: `-P ${name} DROP`,
      effect: 'dropped, as no rule decided otherwise',
      // This program sets no policies.
      isForeign: true,
    };
    return [...ended, ...returned.map((each): Course => ({ ...withStep(each, step), verdict: 'dropped' }))];
  }

  /** Nothing goes on at the end of a chain: what no rule took returns. */
  private walk(chain: WalkedChain, place: Place, start: Course, depth: number): Parting {
    const returned: Course[] = [];
    const ended: Course[] = [];
    let courses: readonly Course[] = [start];
    for (const rule of chain.rules) {
      const next: Course[] = [];
      for (const course of courses) {
        const parting = this.meet(rule, chain, place, course, depth);
        if (!parting) next.push(course);
        else {
          next.push(...parting.goingOn);
          returned.push(...parting.returned);
          ended.push(...parting.ended);
        }
      }
      courses = next;
      if (courses.length === 0) break;
    }
    return { goingOn: [], returned: [...returned, ...courses], ended };
  }

  /** Undefined when the rule has nothing to do with the packet. */
  private meet(
    rule: WalkedRule,
    chain: WalkedChain,
    place: Place,
    course: Course,
    depth: number,
  ): Parting | undefined {
    const { target, chance, asks, remembers } = rule.meaning;
    if (place.table === 'nat') for (const list of asks) this.asked.add(list);
    const applies = rule.appliesTo(course, this.surroundings);
    if (applies === false || (target.kind === 'pass' && remembers.length === 0)) return undefined;
    const step = (effect: string): Step => stepOf(rule, chain, place, effect);
    if (applies !== true) {
      const effect = `cannot tell whether ${applies.unclear} holds; taken as if it did not`;
      return goingOn(withStep(course, { ...step(effect), isUncertain: true }));
    }
    const byChance = chance < 1 ? ` by chance, ${shareText(chance)}` : '';
    const taken = { ...course, probability: course.probability * chance };
    const parting = this.act(rule, this.remembering(remembers, place, taken), place, depth, (effect) =>
      step(effect + byChance),
    );
    if (chance >= 1) return parting;
    const rest = { ...course, probability: course.probability * (1 - chance) };
    return { ...parting, goingOn: [...parting.goingOn, rest] };
  }

  private act(
    { meaning: { target }, servicePort }: WalkedRule,
    course: Course,
    place: Place,
    depth: number,
    step: (effect: string) => Step,
  ): Parting {
    if (target.kind !== 'other') {
      const { course: after, to, text } = effectOf(target, course, this.surroundings);
      const met = text === undefined ? after : withStep(after, step(text));
      return {
        goingOn: to === 'next-rule' ? [met] : [],
        returned: to === 'caller' ? [met] : [],
        ended: to === 'end' ? [met] : [],
      };
    }
    const { name, isGoto } = target;
    const called = depth < MAX_DEPTH ? this.rules.chain(place.table, name, servicePort) : undefined;
    if (!called) {
      const effect = `cannot tell what target ${name} does; taken as if it did nothing`;
      return goingOn(withStep(course, { ...step(effect), isUncertain: true }));
    }
    const entered = withStep(course, step(`${isGoto ? 'goto' : 'jump'} ${name}`));
    const { returned, ended } = this.walk(called, place, entered, depth + 1);
    // Where nothing happened, going there is not worth telling.
    const back = returned.map((each) =>
      each.steps === entered.steps ? { ...each, steps: course.steps } : each,
    );
    return isGoto ? { goingOn: [], returned: back, ended } : { goingOn: back, returned: [], ended };
  }

  /** A client that is remembered in a list that these rules ask comes to the same rule again. */
  private remembering(lists: readonly string[], { table }: Place, course: Course): Course {
    const isSticky = table === 'nat' && lists.some((list) => this.asked.has(list));
    return isSticky ? { ...course, isSticky } : course;
  }
}

function goingOn(course: Course): Parting {
  return { goingOn: [course], returned: [], ended: [] };
}

function stepOf(rule: WalkedRule, chain: WalkedChain, { hook, table }: Place, effect: string): Step {
  const { text, servicePort, isForeign } = rule;
  return {
    hook,
    where: `${table} ${chain.name}`,
    rule: `-A ${chain.name}${text === '' ? '' : ` ${text}`}`,
    effect,
    ...(servicePort !== undefined && { servicePort }),
    ...(isForeign && { isForeign }),
  };
}
