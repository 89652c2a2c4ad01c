import { LOOKED_UP_SETS } from '../../../domain/nftables/layout/sets.js';
import type { SetDefinition, SetElement } from '../../../domain/nftables/layout/table.js';
import type { ElementLookup } from '../../../domain/nftables/state/adopted-rules.js';
import { getOrMake } from '../../../domain/model/get-or-make.js';

const BY_NAME = new Map([...LOOKED_UP_SETS].map((set) => [set.name, set]));

/** Elements to look up. As a lookup of what is known already, it notes what it does not know. */
export class WantedElements implements ElementLookup {
  private wanted = new Map<SetDefinition, Set<string>>();
  private readonly missing = new Map<SetDefinition, Set<string>>();

  /** @param known by the name of the set */
  constructor(
    private readonly known: ReadonlyMap<string, ReadonlyMap<string, SetElement>> = new Map<string, never>(),
  ) {}

  get size(): number {
    return this.wanted.size;
  }

  add(set: SetDefinition, key: string): void {
    getOrMake(this.wanted, set, () => new Set<string>()).add(key);
  }

  element(name: string, key: string): SetElement | undefined {
    const present = this.known.get(name)?.get(key);
    const set = BY_NAME.get(name);
    if (!present && set && !this.missing.get(set)?.has(key)) this.add(set, key);
    return present;
  }

  *bySet(): Generator<readonly [SetDefinition, readonly string[]]> {
    for (const [set, keys] of this.wanted) yield [set, [...keys]];
  }

  /** What was wanted has been looked up: what is still not known does not exist. */
  asked(): void {
    for (const [set, keys] of this.wanted)
      for (const key of keys) getOrMake(this.missing, set, () => new Set<string>()).add(key);
    this.wanted = new Map();
  }
}
