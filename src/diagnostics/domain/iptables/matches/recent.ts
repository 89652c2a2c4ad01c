import type { Condition } from '../condition.js';
import { negatedIf } from '../condition.js';
import { hasOption, valueOf, type RuleSection } from '../rule-sections.js';

/** What match `recent` does in a rule. */
export type Recent =
  /** Adds the packet's source to the list. */
  | { readonly kind: 'remember'; readonly list: string }
  /** Holds if the list has it. */
  | { readonly kind: 'ask'; readonly list: string; readonly condition: Condition };

/** Undefined where something else than sources is remembered or sources are removed. */
export function recentOf(section: RuleSection): Recent | undefined {
  const list = valueOf(section, '--name') ?? 'DEFAULT';
  if (hasOption(section, '--rdest')) return undefined;
  if (hasOption(section, '--set')) return { kind: 'remember', list };
  const asked = section.options.find(({ name }) => name === '--rcheck' || name === '--update');
  if (!asked) return undefined;
  const condition: Condition = {
    text: `-m recent ${asked.name} --name ${list}`,
    holds: ({ source }, { remembers, watch }) => {
      watch?.affinity(Number(valueOf(section, '--seconds') ?? 0));
      const isRemembered = remembers(list, source);
      // A client may have come less often than the rule asks for.
      return negatedIf(
        asked.isNegated,
        isRemembered && hasOption(section, '--hitcount') ? undefined : isRemembered,
      );
    },
  };
  return { kind: 'ask', list, condition };
}
