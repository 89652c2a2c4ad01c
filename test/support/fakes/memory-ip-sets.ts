import type { IpSet, IpSetHeader } from '../../../src/domain/ipvs/ip-set.js';
import type { IpSetOutcome, IpSets, IpSetStep, ReadIpSets } from '../../../src/adapters/ipset/ip-sets.js';

/** IP sets in memory. */
export class MemoryIpSets implements IpSets {
  /** Calls of `restore` with steps: each would start the tool. */
  restores = 0;
  private readonly sets = new Map<string, { readonly header: IpSetHeader; readonly members: Set<string> }>();
  private readonly foreignSets = new Map<string, string>();
  private refuses: (step: IpSetStep) => string | undefined = () => undefined;
  private outage: Error | undefined;

  /** @param journal every step that changed something, in words */
  constructor(readonly journal: string[] = []) {}

  /** From now on refuses steps for which this gives a reason. */
  refuse(reason: (step: IpSetStep) => string | undefined): void {
    this.refuses = reason;
  }

  /** Every call fails with this until it is undefined again. */
  fail(error: Error | undefined): void {
    this.outage = error;
  }

  /** Another program does this: not in the journal, and never refused. */
  tamper(...steps: readonly IpSetStep[]): void {
    for (const step of steps) this.change(step);
  }

  /** There is a set of that name, but of another type. */
  makeForeign(name: string, description: string): void {
    this.foreignSets.set(name, description);
  }

  /** Sorted; undefined without the set. */
  members(name: string): readonly string[] | undefined {
    const set = this.sets.get(name);
    return set && [...set.members].sort();
  }

  get names(): readonly string[] {
    return [...this.sets.keys()];
  }

  async read(names: ReadonlySet<string>, signal?: AbortSignal): Promise<ReadIpSets> {
    this.check();
    signal?.throwIfAborted();
    const sets: IpSet[] = [...this.sets]
      .filter(([name]) => names.has(name))
      .map(([, { header, members }]) => ({ ...header, members: new Set(members) }));
    const foreign = [...this.foreignSets].map(([name, description]) => ({ name, description }));
    return Promise.resolve({ sets, foreign: foreign.filter(({ name }) => names.has(name)) });
  }

  async restore(steps: readonly IpSetStep[]): Promise<readonly IpSetOutcome[]> {
    this.check();
    if (steps.length > 0) this.restores++;
    return Promise.resolve(
      steps.map((step) => {
        const reason = this.refuses(step) ?? this.problem(step);
        if (reason !== undefined) return new Error(`${wordsOf(step)}: ${reason}`);
        if (this.change(step)) this.journal.push(wordsOf(step));
        return undefined;
      }),
    );
  }

  close(): void {
    this.outage = new Error('sets in memory are closed');
  }

  private check(): void {
    if (this.outage) throw this.outage;
  }

  private problem(step: IpSetStep): string | undefined {
    const needsSet = step.kind === 'add' || step.kind === 'delete';
    return needsSet && !this.sets.has(step.set) ? 'The set with the given name does not exist' : undefined;
  }

  /** Takes the step. @returns whether it changed anything */
  private change(step: IpSetStep): boolean {
    switch (step.kind) {
      case 'create':
        if (this.sets.has(step.set.name)) return false;
        this.sets.set(step.set.name, { header: step.set, members: new Set() });
        return true;
      case 'destroy':
        return this.sets.delete(step.set);
      case 'delete':
        return this.sets.get(step.set)!.members.delete(step.member);
      case 'add': {
        const { members } = this.sets.get(step.set)!;
        const isNew = !members.has(step.member);
        members.add(step.member);
        return isNew;
      }
    }
  }
}

function wordsOf(step: IpSetStep): string {
  if (step.kind === 'create') return `create ${step.set.name}`;
  return step.kind === 'destroy' ? `destroy ${step.set}` : `${step.kind} ${step.set} ${step.member}`;
}
