import type { Logger } from '../../../application/ports/logger.js';
import { IpSetUnsupportedError } from '../../ipset/errors.js';
import { IpvsUnavailableError } from '../errors.js';
import { expectDone } from '../tables/planned-steps.js';
import { destroySets, unless, type IpvsHoldings } from './ipvs-holdings.js';

/**
 * Removes everything of mode ipvs from one family at once (docs/spec/ipvs.md §9), including the IPv6 sets, which kube-proxy
 * forgets. Where neither the device nor a set shows that the mode was ever here, virtual servers belong to other programs and
 * stay. Therefore sets stay as long as virtual servers do. When a step fails, the others are taken all the same.
 * @throws AggregateError when a step failed
 */
export async function cleanUpIpvs(holdings: IpvsHoldings, logger: Logger): Promise<void> {
  const { family, servers, addresses, sets, rules } = holdings;
  const errors: unknown[] = [];
  const step = async (work: () => Promise<unknown>): Promise<boolean> => {
    try {
      await work();
      return true;
    } catch (error) {
      logger.error({ family, error }, 'cannot remove everything of mode ipvs');
      errors.push(error);
      return false;
    }
  };
  await step(() => sets.read().catch(unless(IpSetUnsupportedError)));
  const serversAreGone = await step(async () => {
    if (sets.sets.all().length === 0 && (await addresses.list(family)) === undefined) return;
    await servers.read().catch(unless(IpvsUnavailableError));
    expectDone(await servers.remove([...servers.keys()]));
  });
  await step(() => addresses.removeDevice());
  await step(() => rules.cleanup());
  if (serversAreGone) await step(() => destroySets(holdings));
  if (errors.length > 0)
    throw new AggregateError(errors, `cannot remove everything of mode ipvs (${family})`);
}
