import { shareOf } from '../../walk/course.js';
import { nextRule, shareText, uncertain, type Turn } from '../../walk/turn.js';
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

  /** Where the rule leads: two turns where it applies by chance. */
  meet(rule: WalkedRule, course: TablesCourse): readonly TablesTurn[] {
    const { meaning } = rule;
    const { target, chance, asks, remembers } = meaning;
    if (rule.table === 'nat') for (const list of asks) this.asked.add(list);
    const applies = appliesTo(meaning, course, this.surroundings);
    if (applies === false || (target === pass && remembers.length === 0)) return [nextRule(course)];
    if (applies !== true)
      return [uncertain(course, `cannot tell whether ${applies.unclear} holds; taken as if it did not`)];
    const turn = this.act(
      rule.table,
      target,
      this.remembering(rule.table, remembers, shareOf(course, chance)),
    );
    if (chance >= 1) return [turn];
    const { effect } = turn;
    return [
      { ...turn, ...(effect !== undefined && { effect: `${effect} by chance, ${shareText(chance)}` }) },
      nextRule(shareOf(course, 1 - chance)),
    ];
  }

  private act(table: string, target: Target, course: TablesCourse): TablesTurn {
    if (typeof target === 'function') return target(course, this.surroundings);
    const { verb, name } = target;
    const found = this.rules.chain(table, name);
    const chain = found?.narrowed?.(course) ?? found;
    if (!chain) return uncertain(course, `cannot tell what target ${name} does; taken as if it did nothing`);
    return { course, to: { verb, chain }, effect: `${verb} ${name}` };
  }

  /** A client that is remembered in a list that these rules ask comes to the same rule again. */
  private remembering(table: string, remembers: readonly string[], course: TablesCourse): TablesCourse {
    const lists = table === 'nat' ? remembers.filter((list) => this.asked.has(list)) : [];
    if (lists.length === 0) return course;
    const clients = new Set([course.source]);
    return {
      ...course,
      isSticky: true,
      ...(this.surroundings.watch && { memory: new Map(lists.map((list) => [list, clients])) }),
    };
  }
}
