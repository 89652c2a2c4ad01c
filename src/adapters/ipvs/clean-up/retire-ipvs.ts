import { delay } from '../../../application/delay.js';
import type { Clock } from '../../../application/ports/clock.js';
import type { Logger } from '../../../application/ports/logger.js';
import type { ServedAddress } from '../../../domain/ipvs/service-port-rules.js';
import { virtualServerKey, type VirtualServerKey } from '../../../domain/ipvs/virtual-server.js';
import { IpSetUnsupportedError } from '../../ipset/errors.js';
import { ToolMissingError } from '../../tool-programs.js';
import { IpvsUnavailableError } from '../errors.js';
import { expectDone } from '../tables/planned-steps.js';
import { SWEEP_PERIOD } from '../tables/server-table.js';
import { destroySets, unless, type IpvsHoldings } from './ipvs-holdings.js';

/**
 * Removes mode ipvs from one family when another mode serves already, and lets its connections end by themselves: virtual servers take
 * no new connections, then rules and sets go, an address and its virtual servers when their last real server has drained. If aborted while some still drain, it
 * leaves them, and continues when called again. The device stays, because it may hold addresses of the other family. Without the
 * tool ipset, everything but the sets is removed.
 * @returns the number of virtual servers that still drain
 * @throws ToolMissingError when sets are left, or cannot be listed
 */
export async function retireIpvs(
  holdings: IpvsHoldings,
  clock: Clock,
  logger: Logger,
  signal: AbortSignal,
): Promise<number> {
  let missing: unknown;
  try {
    await holdings.sets.read().catch(unless(IpSetUnsupportedError));
  } catch (error) {
    if (!(error instanceof ToolMissingError)) throw error;
    missing = error;
  }
  const left = await retire(holdings, clock, logger, signal);
  if (missing !== undefined) throw missing;
  return left;
}

async function retire(
  holdings: IpvsHoldings,
  clock: Clock,
  logger: Logger,
  signal: AbortSignal,
): Promise<number> {
  const { family, servers, addresses, sets, rules } = holdings;
  const wasHere = sets.sets.all().length > 0 || (await addresses.list(family)) !== undefined;
  if (!wasHere) {
    await rules.cleanup();
    return 0;
  }
  await servers.read().catch(unless(IpvsUnavailableError));
  const idle = new Map<VirtualServerKey, ServedAddress>();
  for (const { server } of servers.removable()) idle.set(virtualServerKey(server), { server, endpoints: [] });
  expectDone(await servers.make(idle));
  await rules.cleanup();
  await destroySets(holdings);
  for (let first = true; ; first = false) {
    const left = await removeDrained(holdings, idle);
    if (left === 0) return 0;
    if (first && !signal.aborted)
      logger.info({ family, servers: left }, 'waiting for connections through mode ipvs to end');
    await delay(clock, SWEEP_PERIOD, signal);
    if (signal.aborted) return left;
    await servers.read().catch(unless(IpvsUnavailableError));
    await servers.sweep();
  }
}

/**
 * Removes addresses of which all virtual servers have drained, then these. A virtual server that has drained before the others of its address
 * stays with them: what the present mode would reject on its way through the node is for the node itself as long as it has the address,
 * and is refused here.
 * @returns how many still drain
 */
async function removeDrained(
  { family, servers, addresses }: IpvsHoldings,
  retired: ReadonlyMap<VirtualServerKey, ServedAddress>,
): Promise<number> {
  const present = [...retired].filter(([key]) => servers.has(key));
  const draining = present.filter(([key]) => !servers.isIdle(key));
  const needed = new Set(draining.map(([, { server }]) => server.address));
  const bound = (await addresses.list(family)) ?? [];
  const outcomes = await addresses.apply(
    bound.filter((address) => !needed.has(address)).map((address) => ({ kind: 'remove', address }) as const),
  );
  for (const error of outcomes) if (error) throw error;
  const kept = new Set(bound.filter((address) => needed.has(address)));
  const drained = present.filter(([key, { server }]) => servers.isIdle(key) && !kept.has(server.address));
  expectDone(await servers.remove(drained.map(([key]) => key)));
  return draining.length;
}
