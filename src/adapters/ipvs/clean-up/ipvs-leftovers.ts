import { setTimeout } from 'node:timers/promises';
import type { Backend } from '../../../application/ports/backend.js';
import type { IpFamily } from '../../../domain/net/ip-family.js';
import type { ServerTable } from '../tables/server-table.js';
import type { ServiceAddresses } from '../kernel/service-addresses.js';
import type { SetTable } from '../tables/set-table.js';

/** Where mode ipvs leaves something of one family. */
export interface IpvsLeftovers {
  readonly family: IpFamily;
  readonly servers: ServerTable;
  readonly addresses: ServiceAddresses;
  readonly sets: SetTable;
  readonly rules: Pick<Backend, 'cleanup'>;
  /** A moment for the kernel; a tenth of a second when missing. */
  readonly pause?: () => Promise<unknown>;
}

/** The kernel lets go of sets some time after the rules that used them are gone. */
const ATTEMPTS = 20;

/** Removes the sets, after the rules. Throws the reasons when some are held on to for seconds. */
export async function destroySets({
  sets,
  pause = () => setTimeout(100),
}: Pick<IpvsLeftovers, 'sets' | 'pause'>): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const { refused } = await sets.destroy();
    if (refused.length === 0) return;
    if (attempt === ATTEMPTS) throw new Error(refused.map(({ reason }) => reason).join('; '));
    await pause();
  }
}
