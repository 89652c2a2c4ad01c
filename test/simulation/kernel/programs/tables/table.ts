import type { SavedChain } from '../../../../../src/domain/iptables/saved-tables.js';
import type { Rule } from '../rules/rule.js';

/** The chains that are at the kernel's hooks, in the order in which they are printed; tables in that of iptables-nft. */
export const BUILT_IN: Readonly<Record<string, readonly string[]>> = {
  mangle: ['PREROUTING', 'INPUT', 'FORWARD', 'OUTPUT', 'POSTROUTING'],
  security: ['INPUT', 'FORWARD', 'OUTPUT'],
  raw: ['PREROUTING', 'OUTPUT'],
  filter: ['INPUT', 'FORWARD', 'OUTPUT'],
  nat: ['PREROUTING', 'INPUT', 'OUTPUT', 'POSTROUTING'],
};

/** A chain as a commit left it. It is another object as soon as anything in it has changed. */
export interface Chain extends SavedChain {
  /** What `rules` are the texts of. */
  readonly entries: readonly Rule[];
}

/** A table as a commit left it. */
export interface Table {
  readonly name: string;
  /** iptables-nft makes built-in chains only when they are needed. */
  readonly chains: ReadonlyMap<string, Chain>;
  /** How many rules lead to a chain. */
  readonly references: ReadonlyMap<string, number>;
  /** How many rules look into a set. */
  readonly setReferences: ReadonlyMap<string, number>;
}

const NOTHING: readonly never[] = [];

/** A built-in chain as it is at first. */
export function untouched(name: string): Chain {
  return { name, policy: 'ACCEPT', rules: NOTHING, entries: NOTHING };
}

/** A table as it is at first. */
export function emptyTable(name: string, chains: readonly string[]): Table {
  return {
    name,
    chains: new Map(chains.map((chain) => [chain, untouched(chain)])),
    references: new Map(),
    setReferences: new Map(),
  };
}

export function isBuiltIn(table: string, chain: string): boolean {
  return BUILT_IN[table]!.includes(chain);
}

/** All chains as they are printed: built-in ones first, whether they were made or not, then the others by name. */
export function printedChains({ name, chains }: Table): readonly Chain[] {
  const own = [...chains.values()].filter((chain) => !isBuiltIn(name, chain.name));
  own.sort((one, other) => (one.name < other.name ? -1 : 1));
  return [...BUILT_IN[name]!.map((chain) => chains.get(chain) ?? untouched(chain)), ...own];
}
