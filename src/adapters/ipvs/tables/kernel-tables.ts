import type { IpvsDesiredState } from '../../../domain/ipvs/desired-state.js';
import { IpvsChange } from '../../../domain/ipvs/ipvs-change.js';
import type { IpFamily } from '../../../domain/net/ip-family.js';
import type { ServiceAddresses } from '../kernel/service-addresses.js';
import { PresenceTable } from './presence-table.js';
import type { ServerTable } from './server-table.js';
import type { SetTable } from './set-table.js';

/** Everything that mode ipvs has in the kernel in one family, except iptables rules. */
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

  /** A change about everything that is desired or in the kernel. */
  changeOfAll(desired: IpvsDesiredState): IpvsChange {
    const all = new IpvsChange();
    for (const key of [...desired.serverKeys(), ...this.servers.keys()]) all.servers.add(key);
    for (const address of [...desired.addresses(), ...this.addresses.all()]) all.addresses.add(address);
    for (const member of [...desired.members(), ...this.sets.members.all()]) all.members.add(member);
    return all;
  }

  /** Of a change, what is in the kernel although nobody wants it any more, and who had it. What is never deleted is left out. */
  remainsOf({ servers, addresses, members, owners }: IpvsChange, desired: IpvsDesiredState): IpvsChange {
    const remains = new IpvsChange();
    const note = <T extends string>(from: Iterable<T>, to: Set<T>, isThere: (what: T) => boolean): void => {
      for (const what of from) {
        const owner = owners.get(what);
        if (owner === undefined || desired.owners(what).length > 0 || !isThere(what)) continue;
        to.add(what);
        remains.owners.set(what, owner);
      }
    };
    note(servers, remains.servers, (key) => this.servers.has(key) && !this.servers.isSpared(key));
    note(addresses, remains.addresses, (address) => this.addresses.has(address));
    note(members, remains.members, (member) => this.sets.members.has(member));
    return remains;
  }
}
