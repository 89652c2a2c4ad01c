import type { Backend } from '../../application/ports/backend.js';
import type { Logger } from '../../application/ports/logger.js';
import type { IpFamily } from '../../domain/net/ip-family.js';
import { IpSetMissingError } from '../ipset/errors.js';
import { IpvsUnavailableError } from './errors.js';
import type { Outcome } from './outcome.js';
import type { ServerTable } from './server-table.js';
import type { ServiceAddresses } from './service-addresses.js';
import type { SetTable } from './set-table.js';

/** Where mode ipvs leaves something of a family. */
export interface IpvsRemains {
  readonly family: IpFamily;
  readonly servers: ServerTable;
  readonly addresses: ServiceAddresses;
  readonly sets: SetTable;
  readonly rules: Pick<Backend, 'cleanup'>;
}

/**
 * Removes everything of mode ipvs from one family (spec/ipvs.md 9), its IPv6 sets, too, which kube-proxy forgets. Where
 * neither the device nor a set tells that the mode was ever here, virtual servers are somebody else's and stay; so sets
 * stay as long as virtual servers do. Each other step is made, whatever became of those before it.
 */
export async function cleanUpIpvs(
  { family, servers, addresses, sets, rules }: IpvsRemains,
  logger: Logger,
): Promise<void> {
  const errors: unknown[] = [];
  const step = async (work: () => Promise<unknown>): Promise<boolean> => {
    try {
      await work();
      return true;
    } catch (error) {
      logger.error({ family, error }, 'could not remove all of mode ipvs');
      errors.push(error);
      return false;
    }
  };
  await step(() => sets.read().catch(unless(IpSetMissingError)));
  const served = await step(async () => {
    if (sets.isAbsent && (await addresses.list(family)) === undefined) return;
    await servers.read().catch(unless(IpvsUnavailableError));
    expectDone(await servers.remove([...servers.keys()]));
  });
  await step(() => addresses.removeDevice());
  await step(() => rules.cleanup());
  if (served) await step(async () => expectDone(await sets.destroy()));
  if (errors.length > 0) throw new AggregateError(errors, `something of mode ipvs is left in ${family}`);
}

/** Lets an error pass that tells that nothing can be there. */
function unless(kind: new (...parameters: never[]) => Error): (error: unknown) => void {
  return (error) => {
    if (!(error instanceof kind)) throw error;
  };
}

function expectDone({ refused }: Outcome<unknown>): void {
  if (refused.length > 0) throw new Error(refused.map(({ reason }) => reason).join('; '));
}
