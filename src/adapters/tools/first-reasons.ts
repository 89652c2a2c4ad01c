const MOST_SHOWN = 3;

/** The first reasons of many, and how many more there are. */
export function firstReasons(reasons: readonly string[]): string {
  const shown = reasons.slice(0, MOST_SHOWN).join('; ') || 'no reason given';
  return reasons.length > MOST_SHOWN ? `${shown}; and ${reasons.length - MOST_SHOWN} more` : shown;
}
