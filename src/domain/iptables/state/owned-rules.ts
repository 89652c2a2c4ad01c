import { getOrMake } from '../../model/get-or-make.js';
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

/** After a refusal two service ports may keep the same rule of the kernel about a frontend. It is there once, the first one's. */
export function withoutSharedRules(entries: readonly OwnedEntry[]): readonly OwnedEntry[] {
  // As nearly always, and with each change.
  if (entries.every(({ owner }) => owner === entries[0]!.owner)) return entries;
  const ownerOf = new Map<string, ServicePortKey>();
  return entries.filter(({ entry: { chain, frontend, rule }, owner }) => {
    if (frontend === undefined) return true;
    return getOrMake(ownerOf, flatText(chain, ' ', rule), () => owner) === owner;
  });
}
