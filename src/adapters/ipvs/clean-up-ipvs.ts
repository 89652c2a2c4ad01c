/** Removes what IPVS mode left on the node, either immediately or when its connections have ended. */

import { setTimeout } from 'node:timers/promises';
import { delay } from '../../application/retries.js';
import type { Backend } from '../../application/ports/backend.js';
import type { Clock } from '../../application/ports/clock.js';
import type { Logger } from '../../application/ports/logger.js';
import { isServiceChain } from '../../domain/iptables/chain-names.js';
import { savedRules, type SavedTables } from '../../domain/iptables/saved-tables.js';
import { ipvsBaseRules, IPVS_FILTER } from '../../domain/ipvs/base-rules.js';
import type { ServedAddress } from '../../domain/ipvs/service-port-rules.js';
import { virtualServerKey, type VirtualServerKey } from '../../domain/ipvs/virtual-server.js';
import type { IpFamily } from '../../domain/net/ip-family.js';
import { IpSetUnsupportedError } from '../ipset/ip-sets.js';
import { ANY_HOST, ANY_NODE, ownedChains } from '../iptables/owned-chains.js';
import { ToolMissingError } from '../tool-programs.js';
import { IpvsUnavailableError, type ServiceAddresses } from './ipvs-kernel.js';
import type { SetTable } from './kernel-tables.js';
import { expectDone } from './presence-table.js';
import { SWEEP_PERIOD, type ServerTable } from './server-table.js';

/**
 * Removes everything of IPVS mode from one family (docs/internals/spec/ipvs.md §9), including the IPv6 sets, which kube-proxy
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
      logger.error({ family, error }, 'cannot remove everything of IPVS mode');
      errors.push(error);
      return false;
    }
  };
  await step(() => readSets(holdings));
  const serversAreGone = await step(async () => {
    if (sets.sets.all().length === 0 && (await addresses.list(family)) === undefined) return;
    await servers.read().catch(unless(IpvsUnavailableError));
    expectDone(await servers.remove([...servers.keys()]));
  });
  await step(() => addresses.removeDevice());
  await step(() => rules.cleanup());
  if (serversAreGone) await step(() => destroySets(holdings));
  if (errors.length > 0)
    throw new AggregateError(errors, `cannot remove everything of IPVS mode (${family})`);
}

/**
 * Removes IPVS mode from one family when another mode serves already, and lets its connections end by themselves: virtual servers take
 * no new connections, then rules and sets go, an address and its virtual servers when their last real server has drained. If aborted while
 * some still drain, it leaves them, and continues when called again. The device stays, because it may hold addresses of the other family.
 * Without the tool ipset, everything but the sets is removed.
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
    await readSets(holdings);
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
      logger.info({ family, servers: left }, 'waiting for connections through IPVS mode to end');
    await delay(clock, SWEEP_PERIOD, signal);
    if (signal.aborted) return left;
    await servers.read().catch(unless(IpvsUnavailableError));
    await servers.sweep();
  }
}

/**
 * Removes addresses of which all virtual servers have drained, then these. A virtual server that has drained before the others of its
 * address stays with them: what the present mode would reject on its way through the node is for the node itself as long as it has the
 * address, and is refused here.
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

/** Where IPVS mode may have left something of one family. */
export interface IpvsHoldings {
  readonly family: IpFamily;
  readonly servers: ServerTable;
  readonly addresses: ServiceAddresses;
  readonly sets: SetTable;
  /** False: the kernel has no IP sets, so the tool ipset is not started. Default true. */
  readonly mayHaveSets?: boolean;
  readonly rules: Pick<Backend, 'cleanup'>;
  /** Waits a moment for the kernel; a tenth of a second when missing. */
  readonly pause?: (() => Promise<unknown>) | undefined;
}

async function readSets({ sets, mayHaveSets = true }: IpvsHoldings): Promise<void> {
  if (mayHaveSets) await sets.read().catch(unless(IpSetUnsupportedError));
}

/** The kernel releases sets some time after the rules that used them are gone. */
const ATTEMPTS = 20;

/** Removes the sets, after the rules. Throws the reasons when the kernel does not release some for seconds. */
async function destroySets({
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

/** Chains and jumps of IPVS mode in iptables. Some chains have the same name, and some jumps the same text, as in iptables mode. */
export const IPVS_OWNED_CHAINS = ownedChains(ipvsBaseRules(ANY_NODE, ANY_HOST, new Set()), false);

/** Whether chains that have the same name in both modes are those of IPVS mode. */
export function holdsIpvsRules(saved: SavedTables): boolean {
  const nat = saved.find(({ name }) => name === 'nat')?.chains ?? [];
  return (
    savedRules(saved, 'filter', IPVS_FILTER) !== undefined && !nat.some(({ name }) => isServiceChain(name))
  );
}
