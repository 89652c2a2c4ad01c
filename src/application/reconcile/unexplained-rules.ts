import type { ForwardingEntry } from '../../domain/forwarding/forwarding-entry.js';
import type { ServicePortName } from '../../domain/model/service-port-name.js';
import type { AdoptedRules, DesiredState } from '../../domain/reconcile/desired-state.js';
import { unexplainedOwner } from '../../domain/reconcile/claims.js';

/**
 * Unexplained rules, kept while not all objects could be read: they are part of the desired state, each under an owner
 * that is not a service port, until their service port becomes known.
 */
export class UnexplainedRules<Rules, Change> {
  private readonly labels = new Set<string>();

  private constructor(
    private readonly desired: DesiredState<Rules, Change>,
    private readonly adopted: AdoptedRules<Rules> | undefined,
  ) {}

  static none<Rules, Change>(desired: DesiredState<Rules, Change>): UnexplainedRules<Rules, Change> {
    return new UnexplainedRules(desired, undefined);
  }

  /** Keeps the kernel's rules of service ports that are not known. */
  static kept<Rules, Change>(
    desired: DesiredState<Rules, Change>,
    adopted: AdoptedRules<Rules>,
    known: readonly ForwardingEntry[],
  ): UnexplainedRules<Rules, Change> {
    const unexplained = new UnexplainedRules(desired, adopted);
    const explained = new Set(
      known.flatMap(({ key, name }) => adopted.labelsOf(name, desired.rules(key)) ?? []),
    );
    for (const label of adopted.labels()) {
      if (explained.has(label)) continue;
      const owner = unexplainedOwner(label);
      const rules = adopted.rules([label], owner);
      if (rules === undefined) continue;
      unexplained.labels.add(label);
      desired.replace(owner, rules);
    }
    return unexplained;
  }

  /** Whether rules of the service port are kept, or may be. */
  has(name: ServicePortName): boolean {
    const labels = this.adopted?.labelsOf(name, undefined) ?? [...this.labels];
    return labels.some((label) => this.labels.has(label));
  }

  /**
   * Stops keeping rules for a service port that is known now. Returns the rules that were kept.
   * @param wanted its rules
   */
  explain(
    { key, name }: ForwardingEntry,
    wanted: Rules | undefined,
    change: Change | undefined,
  ): Rules | undefined {
    if (this.labels.size === 0 || !this.adopted) return undefined;
    const kept = (this.adopted.labelsOf(name, wanted) ?? []).filter((label) => this.labels.delete(label));
    if (kept.length === 0) return undefined;
    for (const label of kept) this.desired.replace(unexplainedOwner(label), undefined, change);
    return this.adopted.rules(kept, key);
  }
}
