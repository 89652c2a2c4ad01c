import type { FrontendExplanation } from '../explain/explanation.js';

/**
 * What becomes of packets to a frontend, and why: on terminals and on the page alike.
 * @param tone how a text is shown that says so
 */
export function outcomeWords(
  { outcome, reason }: Pick<FrontendExplanation, 'outcome' | 'reason'>,
  tone: (outcome: string, text: string) => string = (_, text) => text,
): string {
  return outcome === 'held' ? tone(outcome, reason) : `${tone(outcome, outcome)}, ${reason}`;
}
