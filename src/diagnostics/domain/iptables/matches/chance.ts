import { valueOf, type RuleSection } from '../rule-sections.js';

/** How probable match `statistic` makes a rule: the share of packets that it holds for. */
export function chanceOf(section: RuleSection): number | undefined {
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
