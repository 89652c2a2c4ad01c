import type { IpFamily } from '../../../domain/net/ip-family.js';
import { KUBE_PROXY_MAPS } from '../../../domain/nftables/layout/kube-proxy-maps.js';
import { LISTED_SETS, POSSIBLE_SETS } from '../../../domain/nftables/layout/sets.js';
import { tableChains, tableSets } from '../../../domain/nftables/state/desired-table.js';
import type { NftTransport } from '../transport.js';
import type { Desired, TableReading } from './table-reading.js';
import { fits, hasFrontendTables, isOfAnotherLayout } from './difference.js';
import { Inspection } from './inspection.js';

/** Kernels that do not count elements need whole lists to show unknown ones; above this size that takes them too long. */
const LISTED_AT_MOST = 100_000;

/**
 * Reads the table to find out where it differs from the desired state. The kernel lists a large set ever more slowly, so only the
 * sets of frontends and the small ones are listed; elements of the others are looked up by their keys, and listed only if the
 * kernel counts more than are known.
 * @param how `byDigest`: service ports whose digests are in the table need not be looked up; `mayBeReplaced`: nothing is kept of a table
 * of another layout, so its elements need not be known
 */
export async function readTable(
  transport: NftTransport,
  family: IpFamily,
  { state: desired, node }: Desired,
  { byDigest, mayBeReplaced }: { readonly byDigest: boolean; readonly mayBeReplaced: boolean },
  signal?: AbortSignal,
): Promise<TableReading> {
  const state = await transport.read(family, [...LISTED_SETS, ...KUBE_PROXY_MAPS], signal);
  const isOfAnother = state !== undefined && isOfAnotherLayout(state, family, transport);
  if (!state || ((isOfAnother || hasFrontendTables(state)) && mayBeReplaced))
    return { state, verified: new Set(), isPartial: false };
  if (isOfAnother) return whole(transport, family, signal);
  const counts = [...state.sets.values()].some(({ count }) => count !== undefined);
  const needsLists = !byDigest && !counts && desired.elementCount <= LISTED_AT_MOST;
  const chains = tableChains(desired, node).map(({ chain }) => chain);
  if (needsLists || !fits(chains, tableSets(desired, node), state, family, transport))
    return whole(transport, family, signal);
  const inspection = new Inspection(transport, family, desired, state, signal);
  return inspection.run(byDigest);
}

async function whole(
  transport: NftTransport,
  family: IpFamily,
  signal: AbortSignal | undefined,
): Promise<TableReading> {
  return {
    state: await transport.read(family, [...POSSIBLE_SETS, ...KUBE_PROXY_MAPS], signal),
    verified: new Set(),
    isPartial: false,
  };
}
