import type { IpvsDesiredState } from '../../../domain/ipvs/desired-state.js';
import { IpvsChange } from '../../../domain/ipvs/ipvs-change.js';
import type { AddressTable } from './address-table.js';
import type { ServerTable } from './server-table.js';
import type { SetTable } from './set-table.js';

/** Everything that mode ipvs has in the kernel in one family, except iptables rules. */
export class KernelTables {
  constructor(
    readonly servers: ServerTable,
    readonly sets: SetTable,
    readonly addresses: AddressTable,
  ) {}

  /** Reads the kernel. @throws ForeignIpSetError */
  async read(signal?: AbortSignal): Promise<void> {
    await this.servers.read(signal);
    await this.addresses.read();
    await this.sets.read(signal);
  }

  /** Makes the device and the sets where they are missing. @returns the number of sets made @throws IpSetsNotMadeError */
  async prepare(): Promise<number> {
    await this.addresses.ensureDevice();
    return this.sets.create();
  }

  /** A change about everything that is desired or in the kernel. */
  changeOfAll(desired: IpvsDesiredState): IpvsChange {
    const all = new IpvsChange();
    for (const key of [...Array.from(desired.servers(), ([key]) => key), ...this.servers.keys()])
      all.servers.add(key);
    for (const address of [...desired.addresses(), ...this.addresses.all()]) all.addresses.add(address);
    for (const member of [...desired.members(), ...this.sets.members()]) all.members.add(member);
    return all;
  }
}
