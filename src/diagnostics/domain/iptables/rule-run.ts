import { shareOf } from '../walk/course.js';
import { nextRule, shareText, uncertain, type Chain, type Turn } from '../walk/turn.js';
import type { Surroundings, TablesCourse } from './course.js';
import type { RuleSource } from './rule-source.js';
import { appliesTo, type WalkedRule } from './rule.js';
import { pass, type Target } from './target.js';

type TablesTurn = Turn<TablesCourse, WalkedRule>;

/** Evaluates rules of tables. */
export class RuleRun {
  /** The lists of clients that rules of table nat asked. */
  private readonly asked = new Set<string>();

  constructor(
    private readonly rules: RuleSource,
    private readonly surroundings: Surroundings,
  ) {}

  /** Where the rule leads: two turns where it applies by chance, none where it has nothing to do with the packet. */
  meet(rule: WalkedRule, course: TablesCourse): readonly TablesTurn[] | undefined {
    const { table, meaning } = rule;
    const { target, chance, asks, remembers } = meaning;
    if (table === 'nat') for (const list of asks) this.asked.add(list);
    const applies = appliesTo(meaning, course, this.surroundings);
    if (applies === false || (target === pass && remembers.length === 0)) return undefined;
    if (applies !== true)
      return [uncertain(course, `cannot tell whether ${applies.unclear} holds; taken as if it did not`)];
    const called = typeof target === 'function' ? undefined : this.called(table, target.name, course);
    const leadsNowhere = typeof target !== 'function' && target.verb === 'jump' && called?.rules.length === 0;
    if (leadsNowhere && remembers.length === 0) return undefined;
    const turn = this.act(target, called, this.remembering(table, remembers, shareOf(course, chance)));
    if (chance >= 1) return [turn];
    const { effect } = turn;
    return [
      { ...turn, ...(effect !== undefined && { effect: `${effect} by chance, ${shareText(chance)}` }) },
      nextRule(shareOf(course, 1 - chance)),
    ];
  }

  /** What of a chain may concern the packet. */
  private called(table: string, name: string, course: TablesCourse): Chain<WalkedRule> | undefined {
    const found = this.rules.chain(table, name);
    return found?.narrowed?.(course) ?? found;
  }

  private act(target: Target, chain: Chain<WalkedRule> | undefined, course: TablesCourse): TablesTurn {
    if (typeof target === 'function') return target(course, this.surroundings);
    const { verb, name } = target;
    if (!chain) return uncertain(course, `cannot tell what target ${name} does; taken as if it did nothing`);
    return { course, to: { verb, chain }, effect: `${verb} ${name}` };
  }

  /** A client that is remembered in a list that these rules ask comes to the same rule again. */
  private remembering(table: string, remembers: readonly string[], course: TablesCourse): TablesCourse {
    const lists = table === 'nat' ? remembers.filter((list) => this.asked.has(list)) : [];
    if (lists.length === 0) return course;
    if (!this.surroundings.watch) return course.with({ isSticky: true });
    const clients = new Set([course.source]);
    return course.with({ isSticky: true, memory: new Map(lists.map((list) => [list, clients])) });
  }
}
