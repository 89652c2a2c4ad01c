import { ComparisonError } from '../../application/compare/comparison-error.js';
import type { SavedTables } from '../../../domain/iptables/saved-tables.js';
import { SavedRules } from '../../domain/iptables/saved-rules.js';
import { NODEPORT_CONTAINER, PORTALS_CONTAINER } from '../../../domain/userspace/portals.js';

const PORTALS: ReadonlySet<string> = new Set([PORTALS_CONTAINER, NODEPORT_CONTAINER]);

/**
 * The tables of a node, whichever proxy wrote them.
 * @param side whose tables these are, for people
 * @throws ComparisonError where a process decides about connections
 */
export function savedRules(tables: SavedTables, side: string): SavedRules {
  const hasPortals = tables.some(({ chains }) =>
    chains.some(({ name, rules }) => PORTALS.has(name) && rules.length > 0),
  );
  if (hasPortals) throw ComparisonError.userspace(side);
  return new SavedRules(tables, (_, chain) => chain.startsWith('KUBE-'));
}
