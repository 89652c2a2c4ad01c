import { setTimeout } from 'node:timers/promises';
import type { Backend } from '../../../application/ports/backend.js';
import type { IpFamily } from '../../../domain/net/ip-family.js';
import type { ServiceAddresses } from '../kernel/service-addresses.js';
import { expectDone } from '../tables/planned-steps.js';
import type { ServerTable } from '../tables/server-table.js';
import type { SetTable } from '../tables/set-table.js';

/** Where mode ipvs may have left something of one family. */
export interface IpvsHoldings {
  readonly family: IpFamily;
  readonly servers: ServerTable;
  readonly addresses: ServiceAddresses;
  readonly sets: SetTable;
  readonly rules: Pick<Backend, 'cleanup'>;
  /** Waits a moment for the kernel; a tenth of a second when missing. */
  readonly pause?: (() => Promise<unknown>) | undefined;
}

/** The kernel releases sets some time after the rules that used them are gone. */
const ATTEMPTS = 20;

/** Removes the sets, after the rules. Throws the reasons when the kernel does not release some for seconds. */
export async function destroySets({
  sets,
  pause = () => setTimeout(100),
}: Pick<IpvsHoldings, 'sets' | 'pause'>): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const outcome = await sets.sets.remove();
    if (outcome.refused.length === 0) return;
    if (attempt === ATTEMPTS) expectDone(outcome);
    await pause();
  }
}

/** Ignores errors of these kinds: they show that nothing can be left. */
export function unless(
  ...kinds: readonly (new (...parameters: never[]) => Error)[]
): (error: unknown) => void {
  return (error) => {
    if (!kinds.some((kind) => error instanceof kind)) throw error;
  };
}
