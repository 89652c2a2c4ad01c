import { getOrMake } from '../../../domain/model/maps.js';
import type { Place } from '../walk/packet-state.js';
import type { RuleText } from '../../../domain/iptables/table.js';
import { type Condition, type ConditionInputs, negatedIf, conditionsOf } from './conditions.js';
import type { PacketState } from '../walk/packet-state.js';
import { ruleSections, hasOption, valueOf, type RuleSection } from './rule-sections.js';
import { targetOf, type Target } from './target.js';
import type { Chain } from '../walk/chain-walk.js';

/** What a rule means to a packet. */
export interface RuleMeaning {
  readonly conditions: readonly Condition[];
  /** The share of packets for which the rule holds by chance; 1 where none is at work. */
  readonly chance: number;
  /** Lists of match `recent` that it looks up, and those to which it adds the client. */
  readonly lookups: readonly string[];
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
    /** As `Step` has it. */
    readonly servicePort?: string,
    readonly foreign?: true,
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
  state: PacketState,
  inputs: ConditionInputs,
): Applicability {
  let unclear: string | undefined;
  for (const condition of conditions) {
    const holds = condition.holds(state, inputs);
    if (holds === false) return false;
    if (holds === undefined)
      unclear = unclear === undefined ? condition.text : `${unclear}, ${condition.text}`;
  }
  return unclear === undefined || { unclear };
}

function meaningOf(text: RuleText): RuleMeaning {
  const { matches, target } = ruleSections(text);
  const conditions: Condition[] = [];
  const lookups: string[] = [];
  const remembers: string[] = [];
  let chance = 1;
  for (const section of matches) {
    const share = section.extension === 'statistic' ? chanceOf(section) : undefined;
    const recent = section.extension === 'recent' ? recentOf(section) : undefined;
    if (share !== undefined) chance *= share;
    else if (recent?.kind === 'remember') remembers.push(recent.list);
    else if (recent) {
      lookups.push(recent.list);
      conditions.push(recent.condition);
    } else conditions.push(...conditionsOf(section));
  }
  return { conditions, chance, lookups, remembers, target: targetOf(target) };
}

/** What match `recent` does in a rule. */
export type Recent =
  /** Adds the packet's source to the list. */
  | { readonly kind: 'remember'; readonly list: string }
  /** Holds if the list has it. */
  | { readonly kind: 'lookup'; readonly list: string; readonly condition: Condition };

/** Undefined where something else than sources is remembered or sources are removed. */
function recentOf(section: RuleSection): Recent | undefined {
  const list = valueOf(section, '--name') ?? 'DEFAULT';
  if (hasOption(section, '--rdest')) return undefined;
  if (hasOption(section, '--set')) return { kind: 'remember', list };
  const option = section.options.find(({ name }) => name === '--rcheck' || name === '--update');
  if (!option) return undefined;
  const condition: Condition = {
    text: `-m recent ${option.name} --name ${list}`,
    holds: ({ source }, { remembers, watch }) => {
      watch?.affinity(Number(valueOf(section, '--seconds') ?? 0));
      const isRemembered = remembers(list, source);
      // A client may have come less often than the rule requires.
      return negatedIf(
        option.isNegated,
        isRemembered && hasOption(section, '--hitcount') ? undefined : isRemembered,
      );
    },
  };
  return { kind: 'lookup', list, condition };
}

/** How probable match `statistic` makes a rule: the share of packets that it holds for. */
function chanceOf(section: RuleSection): number | undefined {
  const isNegated = section.options.some((option) => option.isNegated);
  const share = shareOf(section);
  return share !== undefined && isNegated ? 1 - share : share;
}

function shareOf(section: RuleSection): number | undefined {
  const probability = valueOf(section, '--probability');
  if (probability !== undefined) return Number(probability);
  const every = valueOf(section, '--every');
  return every === undefined ? undefined : 1 / Number(every);
}

/** A chain to walk through. */
export interface WalkedChain extends Chain<WalkedRule> {
  /** A built-in chain drops what no rule decides about. */
  readonly drops?: true;
  /** The same chain without rules that do not concern the packet in its current state. Missing: there are few rules. */
  narrowed?(state: PacketState): Chain<WalkedRule>;
}

/** The tables of one family: those that the kernel has, or that should be there. */
export interface RuleSource {
  /** Undefined when there is no such chain. */
  chain(table: string, name: string): WalkedChain | undefined;
}

/** Tables all of whose chains can be looked through. */
export interface ListedRules extends RuleSource {
  all(): Iterable<WalkedChain>;
}
