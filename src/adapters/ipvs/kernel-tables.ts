import { type IpvsDesiredState, IpvsChange } from '../../domain/ipvs/desired-state.js';
import type { SetMember } from '../../domain/ipvs/service-port-rules.js';
import type { IpFamily } from '../../domain/net/ip-family.js';
import { type ServiceAddresses, ForeignIpSetError, IpSetsNotMadeError } from './ipvs-kernel.js';
import { PresenceTable } from './presence-table.js';
import type { ServerTable } from './server-table.js';
import {
  SERVICE_SETS,
  setHeader,
  setName,
  setOf,
  withoutSet,
  type ServiceSet,
} from '../../domain/ipvs/service-sets.js';
import type { IpSets } from '../ipset/ip-sets.js';

/** Everything that IPVS mode has in the kernel in one family, except iptables rules. */
export class KernelTables {
  /** On the device of service addresses. */
  readonly addresses: PresenceTable<string>;

  constructor(
    readonly family: IpFamily,
    readonly servers: ServerTable,
    readonly sets: SetTable,
    private readonly device: ServiceAddresses,
  ) {
    this.addresses = new PresenceTable((kind, addresses) =>
      device.apply(addresses.map((address) => ({ kind, address }))),
    );
  }

  /** Reads the kernel. @throws ForeignIpSetError */
  async read(signal?: AbortSignal): Promise<void> {
    await this.servers.read(signal);
    this.addresses.found((await this.device.list(this.family)) ?? []);
    await this.sets.read(signal);
  }

  /** Makes the device and the sets where they are missing. @returns the number of sets made @throws IpSetsNotMadeError */
  async prepare(): Promise<number> {
    await this.device.ensureDevice();
    return this.sets.create();
  }

  /** Whether this virtual server, address or member is there and may be removed. */
  hasRemovable(what: string): boolean {
    const { servers, addresses, sets } = this;
    if (servers.has(what)) return !servers.isSpared(what);
    return addresses.has(what) || sets.members.has(what as SetMember);
  }

  /** A change about everything that is desired or in the kernel. */
  changeOfAll(desired: IpvsDesiredState): IpvsChange {
    const all = new IpvsChange();
    for (const key of [...desired.serverKeys(), ...this.servers.keys()]) all.servers.add(key);
    for (const address of [...desired.addresses(), ...this.addresses.all()]) all.addresses.add(address);
    for (const member of [...desired.members(), ...this.sets.members.all()]) all.members.add(member);
    return all;
  }
}

/** The kernel's sets of IPVS mode of one family. */
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
