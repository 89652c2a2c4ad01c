import type { IptablesDesiredState, OwnedChain } from '../../../domain/iptables/state/desired-state.js';
import type { IptablesChange } from '../../../domain/iptables/state/iptables-change.js';
import type { OwnedChains } from '../../../domain/iptables/state/desired-tables.js';
import {
  OWNED_TABLE,
  type Chain,
  type BaseRules,
  type RuleText,
  type TableName,
} from '../../../domain/iptables/table.js';
import type { RestoreText } from './restore-script.js';

/** The rules of one table: ours, and those that the present sync put there. */
export interface TalliedRules {
  readonly table: TableName;
  readonly owned: number;
  readonly written: number;
}

/** The tables of which kube-proxy counts rules. */
const TALLIED: readonly TableName[] = ['filter', 'nat'];

/**
 * Counts the rules that are ours, and those that were written. Chains of service ports are counted when all of them are
 * compared or written anyway, and from then on by what changes. Jumps in built-in chains do not count, as with kube-proxy.
 */
export class RuleTally {
  /** In the chains of service ports. */
  private owned = 0;
  private written = new Map<TableName, number>();

  /** Counts anew while somebody goes through the chains. */
  counting(source: OwnedChains): OwnedChains {
    return { chains: () => this.count(source.chains()) };
  }

  /** A change was applied. */
  changed(delta: IptablesChange): void {
    this.owned += delta.rulesGained;
  }

  /** What is written from now on belongs to another sync. */
  begin(): void {
    this.written = new Map();
  }

  applied(text: RestoreText): void {
    for (const table of TALLIED) this.written.set(table, (this.written.get(table) ?? 0) + text.rules(table));
  }

  tables(composition: IptablesDesiredState, frame: BaseRules): readonly TalliedRules[] {
    return TALLIED.map((table) => ({
      table,
      owned: this.ownedIn(table, composition, frame),
      written: this.written.get(table) ?? 0,
    }));
  }

  private ownedIn(
    table: TableName,
    composition: IptablesDesiredState,
    { chains, shared }: BaseRules,
  ): number {
    let total = composition.entryCount(table) + (table === OWNED_TABLE ? this.owned : 0);
    for (const chain of chains) if (chain.table === table) total += chain.rules.length;
    for (const chain of shared) if (chain.table === table) total += chain.before.length + chain.after.length;
    return total;
  }

  private *count(chains: Iterable<OwnedChain>): Generator<OwnedChain> {
    this.owned = 0;
    const take = (rules: number) => (this.owned += rules);
    for (const { chain, owner } of chains) yield { chain: new TalliedChain(chain, take), owner };
  }
}

/** Counts its rules when they are made first. Until then there are none, since thousands of chains wait to be written. */
class TalliedChain implements Chain {
  private isCounted = false;

  constructor(
    private readonly chain: Chain,
    private readonly take: (rules: number) => void,
  ) {}

  get table(): TableName {
    return this.chain.table;
  }

  get name(): string {
    return this.chain.name;
  }

  get rules(): readonly RuleText[] {
    const { rules } = this.chain;
    if (!this.isCounted) this.take(rules.length);
    this.isCounted = true;
    return rules;
  }
}
