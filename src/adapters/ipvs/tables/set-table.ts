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
import type { IpSets } from '../../ipset/ip-sets.js';
import { ForeignIpSetError, IpSetsNotMadeError } from '../errors.js';
import { PresenceTable } from './presence-table.js';

/** The kernel's sets of mode ipvs of one family. */
export class SetTable {
  readonly members: PresenceTable<SetMember>;
  readonly sets: PresenceTable<ServiceSet>;

  constructor(
    private readonly family: IpFamily,
    private readonly kernel: IpSets,
  ) {
    this.sets = new PresenceTable((kind, sets) =>
      kernel.restore(
        sets.map((set) =>
          kind === 'add'
            ? { kind: 'create', set: setHeader(set, family) }
            : { kind: 'destroy', set: setName(set, family) },
        ),
      ),
    );
    this.members = new PresenceTable((kind, members) =>
      kernel.restore(
        members.map((member) => ({
          kind: kind === 'add' ? 'add' : 'delete',
          set: setName(setOf(member), family),
          member: withoutSet(member),
        })),
      ),
    );
  }

  /** Reads the kernel. @throws ForeignIpSetError */
  async read(signal?: AbortSignal): Promise<void> {
    const byName = new Map(SERVICE_SETS.map((set) => [setName(set, this.family), set]));
    const { sets, foreign } = await this.kernel.read(new Set(byName.keys()), signal);
    if (foreign.length > 0) throw new ForeignIpSetError(foreign);
    const found = sets.map(({ name, members }) => ({ set: byName.get(name)!, members }));
    this.sets.found(found.map(({ set }) => set));
    this.members.found(
      found.flatMap(({ set, members }) => Array.from(members, (member): SetMember => `${set} ${member}`)),
    );
  }

  /** Makes the sets that are missing. @returns their number @throws IpSetsNotMadeError */
  async create(): Promise<number> {
    const { written, refused } = await this.sets.add(SERVICE_SETS);
    const [first] = refused;
    if (!first) return written;
    const names = refused.map(({ what }) => setName(what, this.family));
    throw new IpSetsNotMadeError(names, first.reason);
  }
}
