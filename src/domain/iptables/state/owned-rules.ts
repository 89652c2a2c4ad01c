import { flatText } from '../../model/flat-text.js';
import type { ServicePortKey } from '../../model/service-port-name.js';
import type { Chain, SharedEntry } from '../table.js';

/** A chain, and the service port behind it. */
export interface OwnedChain {
  readonly chain: Chain;
  readonly owner: ServicePortKey;
}

/** A rule in a shared chain, and the service port behind it. */
export interface OwnedEntry {
  readonly entry: SharedEntry;
  readonly owner: ServicePortKey;
}

/** Entries with the same id stand in a given order: those of one chain about one frontend, or equal ones. */
export function claimId({ table, chain, frontend, rule }: SharedEntry): string {
  return flatText(table, ' ', chain, ' ', frontend ?? rule);
}
