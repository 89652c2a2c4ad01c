import type { SetMember } from '../../../domain/ipvs/service-port-rules.js';
import {
  SERVICE_SETS,
  setHeader,
  setName,
  setOf,
  withoutSet,
  type ServiceSet,
} from '../../../domain/ipvs/service-sets.js';
import type { IpFamily } from '../../../domain/net/ip-family.js';
import type { IpSets, IpSetStep } from '../../ipset/ip-sets.js';
import { ForeignIpSetError, IpSetsNotMadeError } from '../errors.js';
import { carryOut, type Outcome } from './planned-steps.js';

/** The kernel's sets of mode ipvs of one family, as they were read or written last. */
export class SetTable {
  private readonly known = new Map<ServiceSet, Set<string>>();
  private readonly setOf: ReadonlyMap<string, ServiceSet>;

  constructor(
    private readonly family: IpFamily,
    private readonly sets: IpSets,
  ) {
    this.setOf = new Map(SERVICE_SETS.map((set) => [setName(set, family), set]));
  }

  /** Reads the kernel. @throws ForeignIpSetError */
  async read(signal?: AbortSignal): Promise<void> {
    const { sets, foreign } = await this.sets.read(new Set(this.setOf.keys()), signal);
    if (foreign.length > 0) throw new ForeignIpSetError(foreign);
    this.known.clear();
    for (const { name, members } of sets) this.known.set(this.setOf.get(name)!, new Set(members));
  }

  /** Makes the sets that are missing. @returns their number @throws IpSetsNotMadeError */
  async create(): Promise<number> {
    const missing = SERVICE_SETS.filter((set) => !this.known.has(set));
    const { written, refused } = await this.carryOut(
      missing.map((set) => ({
        step: { kind: 'create', set: setHeader(set, this.family) } as const,
        about: set,
        done: () => void this.known.set(set, new Set()),
      })),
    );
    const [first] = refused;
    if (first) {
      const names = refused.map(({ what }) => setName(what, this.family));
      throw new IpSetsNotMadeError(names, first.reason);
    }
    return written;
  }

  /** Whether no set of this family exists. */
  get isAbsent(): boolean {
    return this.known.size === 0;
  }

  exists(set: ServiceSet): boolean {
    return this.known.has(set);
  }

  members(): readonly SetMember[] {
    return [...this.known].flatMap(([set, members]) =>
      Array.from(members, (member): SetMember => `${set} ${member}`),
    );
  }

  /** The sets that have members. */
  get filled(): ReadonlySet<ServiceSet> {
    return new Set([...this.known].flatMap(([set, members]) => (members.size > 0 ? [set] : [])));
  }

  /** Adds what is missing of the members, in their order. */
  add(members: readonly SetMember[]): Promise<Outcome<SetMember>> {
    return this.change('add', members);
  }

  /** Deletes what is there of the members, in their order. */
  remove(members: readonly SetMember[]): Promise<Outcome<SetMember>> {
    return this.change('delete', members);
  }

  /** Removes all sets of this family. */
  destroy(): Promise<Outcome<ServiceSet>> {
    return this.carryOut(
      [...this.known.keys()].map((set) => ({
        step: { kind: 'destroy', set: setName(set, this.family) } as const,
        about: set,
        done: () => void this.known.delete(set),
      })),
    );
  }

  private change(kind: 'add' | 'delete', members: readonly SetMember[]): Promise<Outcome<SetMember>> {
    return this.carryOut(
      members.flatMap((about) => {
        const member = withoutSet(about);
        const present = this.known.get(setOf(about));
        if ((present?.has(member) ?? false) === (kind === 'add')) return [];
        const step = { kind, set: setName(setOf(about), this.family), member };
        return [{ step, about, done: () => void present?.[kind](member) }];
      }),
    );
  }

  private carryOut<T>(
    planned: readonly { readonly step: IpSetStep; readonly about: T; readonly done: () => void }[],
  ): Promise<Outcome<T>> {
    return carryOut(planned, (steps) => this.sets.restore(steps));
  }
}
