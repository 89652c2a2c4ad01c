import { inToneOf } from '../../output/tones.js';
import { grouped as groupedBy } from '../../../../../domain/model/maps.js';
import type { SilentNode } from '../../../../application/cluster/ask-nodes.js';

/** Names that are listed before the rest is only counted. */
const LISTED = 5;

const NO_ANSWER = inToneOf('silent', 'no answer');

/** A few names, and how many more there are. */
export function named(nodes: readonly string[]): string {
  const more = nodes.length - LISTED;
  return more > 1 ? `${nodes.slice(0, LISTED).join(', ')} and ${more} more` : nodes.join(', ');
}

/** One line for all nodes of which the same is said: `label: node-1, node-2 (what)`. */
export function grouped<Item extends { readonly node: string }>(
  label: string,
  items: readonly Item[],
  said: (item: Item) => string,
): readonly string[] {
  const alike = [...groupedBy(items, said)];
  return alike.map(([text, group]) => `${label}: ${named(group.map(({ node }) => node))} (${text})`);
}

/** Who did not answer, and why. @param each with a line for each node */
export function noAnswerLines(silent: readonly SilentNode[], each: boolean): readonly string[] {
  if (each) return silent.map(({ node, reason }) => `${NO_ANSWER}: ${node} (${reason})`);
  return grouped(NO_ANSWER, silent, ({ reason }) => reason);
}
