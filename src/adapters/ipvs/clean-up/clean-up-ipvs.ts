import type { Logger } from '../../../application/ports/logger.js';
import { IpSetUnsupportedError } from '../../ipset/errors.js';
import { IpvsUnavailableError } from '../errors.js';
import { destroySets, type IpvsLeftovers } from './ipvs-leftovers.js';
import type { Outcome } from '../tables/outcome.js';

/**
 * Removes everything of mode ipvs from one family at once (docs/spec/ipvs.md §9), its IPv6 sets, too, which kube-proxy forgets.
 * Where neither the device nor a set tells that the mode was ever here, virtual servers are somebody else's and stay; so
 * sets stay as long as virtual servers do. Each other step is made, whatever became of those before it.
 */
export async function cleanUpIpvs(remains: IpvsLeftovers, logger: Logger): Promise<void> {
  const { family, servers, addresses, sets, rules } = remains;
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
  await step(() => sets.read().catch(unless(IpSetUnsupportedError)));
  const served = await step(async () => {
    if (sets.isAbsent && (await addresses.list(family)) === undefined) return;
    await servers.read().catch(unless(IpvsUnavailableError));
    expectDone(await servers.remove([...servers.keys()]));
  });
  await step(() => addresses.removeDevice());
  await step(() => rules.cleanup());
  if (served) await step(() => destroySets(remains));
  if (errors.length > 0) throw new AggregateError(errors, `something of mode ipvs is left in ${family}`);
}

/** Lets errors pass that tell that nothing can be there. */
export function unless(
  ...kinds: readonly (new (...parameters: never[]) => Error)[]
): (error: unknown) => void {
  return (error) => {
    if (!kinds.some((kind) => error instanceof kind)) throw error;
  };
}

/** Throws the reasons when something was refused. */
export function expectDone({ refused }: Outcome<unknown>): void {
  if (refused.length > 0) throw new Error(refused.map(({ reason }) => reason).join('; '));
}
