import { isDeepStrictEqual } from 'node:util';
import type { IpFamily } from '../../../domain/net/ip-family.js';
import type { KernelTable } from '../../../domain/nftables/kernel/ruleset.js';
import { nftFamily } from '../../../domain/nftables/layout/table.js';
import type { NetlinkConversation } from '../../../adapters/netlink/netlink-channel.js';
import { familyNumber } from '../../../adapters/netlink/protocol.js';
import { DORMANT, INET_WORD } from '../../../adapters/nftables/netlink/nf-tables.js';
import { askerOf } from '../../../adapters/nftables/netlink/ask.js';
import { kernelRule, kernelTable } from '../../../adapters/nftables/netlink/kernel-table.js';
import { listTables } from '../../../adapters/nftables/netlink/table-listing.js';
import { readSteadily } from './steady-reading.js';

/** A table, and the number of its family in requests. */
export interface ReadTable extends KernelTable {
  readonly familyWord: number;
  readonly isTorn: boolean;
}

export interface ReadRuleset {
  /** All tables that packets of a family meet, without elements of sets. */
  readonly tables: readonly ReadTable[];
  /** Those that other programs kept changing, or making and deleting, while they were read. */
  readonly unsteady: readonly KernelTable[];
}

/** @throws NetlinkError if the kernel cannot be asked; the signal's reason when it is aborted */
export async function readRuleset(
  conversation: NetlinkConversation,
  family: IpFamily,
  signal?: AbortSignal,
): Promise<ReadRuleset> {
  const {
    read,
    isSteady,
    former = [],
  } = await readSteadily(conversation, async () => [
    ...(await readFamily(conversation, familyNumber(family), nftFamily(family), signal)),
    ...(await readFamily(conversation, INET_WORD, 'inet', signal)),
  ]);
  const torn = read.filter(({ isTorn }) => isTorn);
  if (isSteady) return { tables: read, unsteady: torn };
  const changed = read.filter(
    (table) => !table.isTorn && !former.some((its) => isDeepStrictEqual(its, table)),
  );
  const gone = former.filter(
    ({ family: of, name }) => !read.some((its) => its.family === of && its.name === name),
  );
  return { tables: read, unsteady: [...torn, ...changed, ...gone] };
}

async function readFamily(
  conversation: NetlinkConversation,
  word: number,
  family: KernelTable['family'],
  signal: AbortSignal | undefined,
): Promise<readonly ReadTable[]> {
  const listed = await listTables(askerOf(conversation, word, signal), kernelRule);
  return [...listed.values()]
    .filter(({ table }) => ((table.flags ?? 0) & DORMANT) === 0)
    .map((each) => ({ ...kernelTable(family, each), familyWord: word, isTorn: each.isTorn }));
}
