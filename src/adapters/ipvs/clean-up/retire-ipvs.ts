import type { Clock } from '../../../application/ports/clock.js';
import type { Logger } from '../../../application/ports/logger.js';
import type { ServedAddress } from '../../../domain/ipvs/service-port-rules.js';
import type { VirtualServerKey } from '../../../domain/ipvs/virtual-server.js';
import { IpSetMissingError, IpSetUnsupportedError } from '../../ipset/errors.js';
import { IpvsUnavailableError } from '../errors.js';
import { expectDone, unless } from './clean-up-ipvs.js';
import { destroySets, type IpvsLeftovers } from './ipvs-leftovers.js';
import { SWEEP_PERIOD } from '../tables/server-table.js';

/**
 * Removes mode ipvs from one family when another mode serves already, and lets the connections that it carries end by
 * themselves: rules and sets go at once, a virtual server and its address when its last real server has drained. Aborted
 * while some still drain, it leaves them; called again, it goes on with them. The device is left, for it may hold
 * addresses of the other family.
 * Without the tool for sets it removes all else.
 * @returns the number of virtual servers left
 * @throws IpSetMissingError when sets are left, or cannot be looked for
 */
export async function retireIpvs(
  remains: IpvsLeftovers,
  clock: Clock,
  logger: Logger,
  signal: AbortSignal,
): Promise<number> {
  let missing: unknown;
  try {
    await remains.sets.read().catch(unless(IpSetUnsupportedError));
  } catch (error) {
    if (!(error instanceof IpSetMissingError)) throw error;
    missing = error;
  }
  const left = await retire(remains, clock, logger, signal);
  if (missing !== undefined) throw missing;
  return left;
}

async function retire(
  remains: IpvsLeftovers,
  clock: Clock,
  logger: Logger,
  signal: AbortSignal,
): Promise<number> {
  const { family, servers, addresses, sets, rules } = remains;
  const wasHere = !sets.isAbsent || (await addresses.list(family)) !== undefined;
  await rules.cleanup();
  if (!wasHere) return 0;
  await servers.read().catch(unless(IpvsUnavailableError));
  const idle = new Map<VirtualServerKey, ServedAddress>();
  for (const [key, server] of servers.removable()) idle.set(key, { server, endpoints: [] });
  expectDone(await servers.make(idle));
  await destroySets(remains);
  for (let first = true; ; first = false) {
    const left = await removeDrained(remains, idle);
    if (left === 0) return 0;
    if (first) logger.info({ family, servers: left }, 'connections through mode ipvs go on until they end');
    await pause(SWEEP_PERIOD, clock, signal);
    if (signal.aborted) return left;
    await servers.sweep();
  }
}

/** Removes virtual servers without real servers, and addresses without virtual servers; gives the number of those left. */
async function removeDrained(
  { family, servers, addresses }: IpvsLeftovers,
  retired: ReadonlyMap<VirtualServerKey, ServedAddress>,
): Promise<number> {
  const present = [...retired].filter(([key]) => servers.has(key));
  const drained = present.filter(([key]) => servers.isIdle(key)).map(([key]) => key);
  expectDone(await servers.remove(drained));
  const left = present.filter(([key]) => servers.has(key));
  const needed = new Set(left.map(([, { server }]) => server.address));
  const bound = (await addresses.list(family)) ?? [];
  const outcomes = await addresses.apply(
    bound.filter((address) => !needed.has(address)).map((address) => ({ kind: 'remove', address }) as const),
  );
  for (const error of outcomes) if (error) throw error;
  return left.length;
}

/** Waits, unless aborted. */
function pause(milliseconds: number, clock: Clock, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const end = (): void => {
      timer.cancel();
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = clock.after(milliseconds, end);
    signal.addEventListener('abort', end);
  });
}
