import type { Rule } from '../rules/rule.js';
import { isBuiltIn, untouched, type Chain, type Table } from './table.js';

/** Why a step cannot be taken. */
export type Obstacle =
  | 'no chain'
  | 'chain exists'
  | 'no rule'
  | 'index of insertion'
  | 'index of deletion'
  | 'built-in'
  | 'not empty'
  | 'in use'
  | 'hook in use';

interface OpenChain {
  readonly name: string;
  policy: string | undefined;
  entries: Rule[];
}

/** What a program makes of a table before it is committed. */
export class TableDraft {
  private readonly chains: Map<string, Chain | OpenChain>;
  private readonly opened = new Map<string, OpenChain>();
  private references: Map<string, number>;
  private setReferences: Map<string, number>;
  /** How many of the steps nf_tables would tell its listeners of: 0 if nothing was changed. */
  effects = 0;

  /** @param makesBuiltIn built-in chains are made when they are needed, as by iptables-nft */
  constructor(
    readonly before: Table,
    private readonly makesBuiltIn: boolean,
  ) {
    this.chains = new Map(before.chains);
    this.references = new Map(before.references);
    this.setReferences = new Map(before.setReferences);
  }

  get name(): string {
    return this.before.name;
  }

  /** Whether there is such a chain, or it will be made as soon as it is needed. */
  has(chain: string): boolean {
    return this.chains.has(chain) || (this.makesBuiltIn && isBuiltIn(this.name, chain));
  }

  rules(chain: string): readonly Rule[] | undefined {
    const found = this.chains.get(chain);
    return found ? found.entries : this.has(chain) ? [] : undefined;
  }

  allChains(): readonly string[] {
    return [...this.chains.keys()];
  }

  /** How many rules lead to a chain. */
  referencesTo(chain: string): number {
    return this.references.get(chain) ?? 0;
  }

  /**
   * Looks at each rule that packets can reach, with the hook that they come from; stops when it finds something.
   * @param endsChain rules behind which the kernel does not look any further
   */
  findReached<T>(
    look: (hook: string, rule: Rule) => T | undefined,
    endsChain: (rule: Rule) => boolean,
  ): T | 'loop' | undefined {
    for (const hook of this.chains.keys()) {
      if (!isBuiltIn(this.name, hook)) continue;
      const seen = new Map<string, 'open' | 'done'>();
      const visit = (chain: string): T | 'loop' | undefined => {
        const known = seen.get(chain);
        if (known) return known === 'open' ? 'loop' : undefined;
        seen.set(chain, 'open');
        const rules = this.chains.get(chain)?.entries ?? [];
        for (const rule of rules) {
          const found = look(hook, rule) ?? (rule.chain === undefined ? undefined : visit(rule.chain));
          if (found !== undefined) return found;
          if (endsChain(rule)) break;
        }
        seen.set(chain, 'done');
        return undefined;
      };
      const found = visit(hook);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** `:CHAIN`, or `-N CHAIN`. */
  make(chain: string): Obstacle | undefined {
    if (this.has(chain)) return 'chain exists';
    this.add({ name: chain, policy: undefined, entries: [] });
    return undefined;
  }

  /** @param chain a built-in one */
  setPolicy(chain: string, policy: string): undefined {
    this.effects++;
    this.open(chain)!.policy = policy;
  }

  /** Makes a built-in chain where it is made only when it is needed. */
  touch(chain: string): Obstacle | undefined {
    this.effects++;
    return this.open(chain) ? undefined : 'no chain';
  }

  append(chain: string, rule: Rule): Obstacle | undefined {
    const open = this.open(chain);
    if (!open) return 'no chain';
    open.entries.push(rule);
    this.count(rule, 1);
    return undefined;
  }

  /** @param position from 0 */
  insert(chain: string, rule: Rule, position: number): Obstacle | undefined {
    const open = this.open(chain);
    if (!open) return 'no chain';
    if (position > open.entries.length) return 'index of insertion';
    open.entries.splice(position, 0, rule);
    this.count(rule, 1);
    return undefined;
  }

  /** The position (from 0) of the first rule that says the same; -1 without one. */
  find(chain: string, { text }: Rule): number {
    return this.rules(chain)?.findIndex((rule) => rule.text === text) ?? -1;
  }

  /** @param position from 0 */
  removeAt(chain: string, position: number): Obstacle | undefined {
    if (!this.chains.has(chain)) return 'no chain';
    if (position < 0 || position >= this.rules(chain)!.length) return 'index of deletion';
    this.count(this.open(chain)!.entries.splice(position, 1)[0]!, -1);
    return undefined;
  }

  flush(chain: string): Obstacle | undefined {
    if (!this.has(chain)) return 'no chain';
    if (!this.chains.has(chain)) return this.touch(chain);
    if (this.rules(chain)!.length === 0) return undefined;
    for (const rule of this.open(chain)!.entries.splice(0)) this.count(rule, -1);
    return undefined;
  }

  /** Removes a chain, which must be empty, and which no rule leads to. */
  remove(chain: string): Obstacle | undefined {
    const found = this.chains.get(chain);
    if (!found) return 'no chain';
    if (isBuiltIn(this.name, chain)) {
      if (!this.makesBuiltIn) return 'built-in';
      if (found.policy !== 'ACCEPT') return 'hook in use';
    }
    if (this.referencesTo(chain) > 0) return 'in use';
    if (found.entries.length > 0) return 'not empty';
    this.effects++;
    this.chains.delete(chain);
    this.opened.delete(chain);
    return undefined;
  }

  /** Removes everything that is not built in. */
  clear(): void {
    for (const [name, { entries }] of this.chains) {
      if (!isBuiltIn(this.name, name) || this.makesBuiltIn) {
        this.chains.delete(name);
        this.opened.delete(name);
        this.effects++;
      } else if (entries.length > 0) this.open(name)!.entries = [];
    }
    this.references = new Map();
    this.setReferences = new Map();
  }

  /** The rules of chains that have changed, by chain. */
  *written(): Generator<{ readonly chain: string; readonly rules: readonly Rule[] }> {
    for (const { name, entries } of this.opened.values()) yield { chain: name, rules: entries };
  }

  /** What the table is after a commit, and the names of chains that differ from before. */
  finish(): { readonly table: Table; readonly changed: readonly string[] } {
    const { before } = this;
    const changed: string[] = [];
    for (const open of this.opened.values()) {
      const former = before.chains.get(open.name);
      const chain =
        former && isSame(former, open) ? former : { ...open, rules: open.entries.map(({ text }) => text) };
      this.chains.set(open.name, chain);
      if (chain !== former) changed.push(open.name);
    }
    for (const name of before.chains.keys()) if (!this.chains.has(name)) changed.push(name);
    const { chains, references, setReferences } = this;
    const table: Table = {
      name: before.name,
      chains: chains as Map<string, Chain>,
      references,
      setReferences,
    };
    return { table, changed };
  }

  private add(chain: OpenChain): void {
    this.effects++;
    this.chains.set(chain.name, chain);
    this.opened.set(chain.name, chain);
  }

  private open(chain: string): OpenChain | undefined {
    const open = this.opened.get(chain);
    if (open) return open;
    let found = this.chains.get(chain);
    if (!found && !this.has(chain)) return undefined;
    if (!found) {
      this.effects++;
      found = untouched(chain);
    }
    const { name, policy, entries } = found;
    const opened = { name, policy, entries: [...entries] };
    this.chains.set(name, opened);
    this.opened.set(name, opened);
    return opened;
  }

  private count({ chain, sets }: Rule, by: number): void {
    this.effects++;
    if (chain !== undefined) add(this.references, chain, by);
    for (const set of sets) add(this.setReferences, set, by);
  }
}

function add(counts: Map<string, number>, key: string, by: number): void {
  const count = (counts.get(key) ?? 0) + by;
  if (count === 0) counts.delete(key);
  else counts.set(key, count);
}

function isSame(chain: Chain, { policy, entries }: OpenChain): boolean {
  return (
    chain.policy === policy &&
    chain.entries.length === entries.length &&
    chain.entries.every((rule, index) => rule === entries[index])
  );
}
