import type { ServicePortKey } from '../../../domain/model/service-port-name.js';
import { getOrMake } from '../../../domain/model/maps.js';
import type { Place } from '../walk/course.js';
import type { RuleText } from '../../../domain/iptables/table.js';
import type { Condition } from './condition.js';
import type { Surroundings, TablesCourse } from './course.js';
import { chanceOf } from './matches/chance.js';
import { conditionsOf } from './matches/conditions-of.js';
import { recentOf } from './matches/recent.js';
import { ruleSections } from './rule-sections.js';
import { targetOf, type Target } from './target.js';

/** What a rule means to a packet. */
export interface RuleMeaning {
  readonly conditions: readonly Condition[];
  /** The share of packets for which the rule holds by chance; 1 where none is at work. */
  readonly chance: number;
  /** Lists of match `recent` that it asks, and to which it adds the client. */
  readonly asks: readonly string[];
  readonly remembers: readonly string[];
  readonly target: Target;
}

/** Whether a rule's conditions hold for a packet; the text of those that cannot be told where they would decide. */
export type Applicability = boolean | { readonly unclear: string };

/** Meanings take much more room than rules, and few are needed again. */
const MEANINGS_KEPT = 20_000;
const MEANINGS = new Map<RuleText, RuleMeaning>();

/** A rule to walk through. It is taken apart when first needed: most rules of a large table never are. */
export class WalkedRule implements Place {
  constructor(
    readonly table: string,
    private readonly chain: string,
    /** As iptables-save prints it after `-A CHAIN `. */
    readonly text: RuleText,
    readonly servicePort?: ServicePortKey,
    readonly isForeign?: true,
  ) {}

  get where(): string {
    return `${this.table} ${this.chain}`;
  }

  get rule(): string {
    return `-A ${this.chain}${this.text === '' ? '' : ` ${this.text}`}`;
  }

  get meaning(): RuleMeaning {
    const { text } = this;
    if (MEANINGS.size >= MEANINGS_KEPT && !MEANINGS.has(text)) MEANINGS.clear();
    return getOrMake(MEANINGS, text, () => meaningOf(text));
  }
}

/** Whether the rule is applied to the packet. */
export function appliesTo(
  { conditions }: RuleMeaning,
  course: TablesCourse,
  surroundings: Surroundings,
): Applicability {
  let unclear: string | undefined;
  for (const condition of conditions) {
    const holds = condition.holds(course, surroundings);
    if (holds === false) return false;
    if (holds === undefined)
      unclear = unclear === undefined ? condition.text : `${unclear}, ${condition.text}`;
  }
  return unclear === undefined || { unclear };
}

function meaningOf(text: RuleText): RuleMeaning {
  const { matches, target } = ruleSections(text);
  const conditions: Condition[] = [];
  const asks: string[] = [];
  const remembers: string[] = [];
  let chance = 1;
  for (const section of matches) {
    const share = section.extension === 'statistic' ? chanceOf(section) : undefined;
    const recent = section.extension === 'recent' ? recentOf(section) : undefined;
    if (share !== undefined) chance *= share;
    else if (recent?.kind === 'remember') remembers.push(recent.list);
    else if (recent) {
      asks.push(recent.list);
      conditions.push(recent.condition);
    } else conditions.push(...conditionsOf(section));
  }
  return { conditions, chance, asks, remembers, target: targetOf(target) };
}
