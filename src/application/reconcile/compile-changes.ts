import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { ForwardingChange } from '../../domain/forwarding/forwarding-table.js';
import type { ServicePortKey, ServicePortName } from '../../domain/model/service-port-name.js';
import { errorMessage } from '../error-message.js';
import { endpointsNote } from '../../domain/forwarding/endpoint-budget.js';
import type { ServiceFailure, ServiceNote } from '../ports/backend.js';
import type { Driver } from '../ports/driver.js';
import type { ForwardingEntry } from '../../domain/forwarding/forwarding-entry.js';
import type { AdoptedRules, DesiredState } from '../../domain/reconcile/desired-state.js';
import { unexplainedOwner } from '../../domain/reconcile/claims.js';

/** Service ports compiled between two turns of the event loop: a millisecond or two. */
const COMPILED_AT_ONCE = 128;

/** Service ports about to be changed, with their last good rules; undefined if they had none. */
export type Candidates<Rules> = ReadonlyMap<ServicePortKey, Rules | undefined>;

/** The result of compiling changes. */
export interface Compiled<Rules> {
  readonly candidates: Candidates<Rules>;
  readonly failed: readonly ServiceFailure[];
  /** How rules deviate from the requests of entries. */
  readonly notes: readonly ServiceNote[];
}

/**
 * Compiles into the desired state. A service port that cannot be compiled keeps its rules.
 * @param unexplained gives up what turns out to be explained
 * @param change collects what this does to the desired state
 */
export async function compileChanges<Rules, Change>(
  driver: Pick<Driver<Rules, Change>, 'desired' | 'compile'>,
  unexplained: UnexplainedRules<Rules, Change>,
  changes: readonly ForwardingChange[],
  change?: Change,
): Promise<Compiled<Rules>> {
  const { desired } = driver;
  const candidates = new Map<ServicePortKey, Rules | undefined>();
  const failed: ServiceFailure[] = [];
  const notes: ServiceNote[] = [];
  for (const { key, entry } of changes) {
    const present = desired.rules(key);
    let note = entry && endpointsNote(entry);
    let wanted: Rules | undefined;
    try {
      wanted = entry && driver.compile(entry, present, (text) => (note ??= text));
    } catch (error) {
      failed.push({ key, reason: `cannot be compiled: ${errorMessage(error)}`, limitedBy: 'node' });
      continue;
    }
    if (note !== undefined) notes.push({ key, note });
    const former = candidates.has(key) ? candidates.get(key) : present;
    const kept = entry && unexplained.explain(entry, wanted, change);
    candidates.set(key, former ?? kept);
    desired.replace(key, wanted, change);
    if (candidates.size % COMPILED_AT_ONCE === 0) await yieldToEventLoop();
  }
  return { candidates, failed, notes };
}

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
