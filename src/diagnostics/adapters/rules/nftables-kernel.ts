/** The tables of nf_tables as the kernel has them now, for packets to follow and for comparisons. */

import type { Walk } from '../../domain/walk/desired-walk.js';
import type { IpFamily } from '../../../domain/net/ip-family.js';
import { follow } from '../../domain/nftables/ruleset-walk.js';
import { isOurs } from '../../domain/nftables/kernel-packet-state.js';
import type { KernelTable, KernelElement } from '../../../domain/nftables/kernel/ruleset.js';
import type { Step } from '../../domain/trace/trace.js';
import { NetlinkChannel, type NetlinkConversation } from '../../../adapters/netlink/netlink-channel.js';
import { NetlinkSocket } from '../../../adapters/netlink/netlink-socket.js';
import { NETLINK_NETFILTER, NETLINK_ROUTE, familyNumber } from '../../../adapters/netlink/protocol.js';
import { listLinks } from '../../../adapters/rtnetlink/rtnetlink.js';
import { isDeepStrictEqual } from 'node:util';
import { nftFamily } from '../../../domain/nftables/layout/table.js';
import { DORMANT, INET_WORD } from '../../../adapters/nftables/netlink/nf-tables.js';
import { queryRunner, readGeneration } from '../../../adapters/nftables/netlink/queries.js';
import { kernelTable, kernelElement } from '../../../adapters/nftables/netlink/kernel-table.js';
import { listTables } from '../../../adapters/nftables/netlink/table-listing.js';
import type { WantedElements } from '../../domain/nftables/elements.js';
import type { NetlinkMessage } from '../../../adapters/netlink/message-reader.js';
import type { MessageWriter } from '../../../adapters/netlink/message-writer.js';
import * as nf from '../../../adapters/nftables/netlink/nf-tables.js';
import {
  LOOKED_UP_AT_ONCE,
  lookUpElements,
  putSet,
  type SetPlace,
} from '../../../adapters/nftables/netlink/elements.js';
import { ELEMENTS, recordOf } from '../../../adapters/nftables/netlink/records.js';

/**
 * The rules of nf_tables as they are now, those of all programs. Elements of sets are read when a packet meets them, with a socket
 * that is opened for each packet. Where other programs change a table all the time, answers are marked as uncertain.
 * @throws NetlinkError if the kernel cannot be read; the signal's reason when it is aborted
 */
export async function readActualWalk(
  family: IpFamily,
  signal?: AbortSignal,
  openSocket = (protocol: number) => NetlinkSocket.open(protocol),
): Promise<Walk> {
  const withNftables = <Result>(
    use: (conversation: NetlinkConversation) => Promise<Result>,
  ): Promise<Result> =>
    NetlinkChannel.during(
      () => openSocket(NETLINK_NETFILTER),
      (channel) => channel.runExclusive(use),
    );
  const { tables, unsteady } = await withNftables((conversation) =>
    readRuleset(conversation, family, signal),
  );
  const links = await NetlinkChannel.during(() => openSocket(NETLINK_ROUTE), listLinks);
  const deviceNumbers = new Map(links.map(({ name, index }) => [name, index]));
  const unknownSteps = unsteady.map(unknownStep);
  return {
    async walk(packet, environment) {
      const paths = await withNftables((conversation) =>
        follow({ tables, deviceNumbers }, packet, environment, (wanted) =>
          readElements(conversation, wanted),
        ),
      );
      return paths.map((path) => ({ ...path, steps: [...unknownSteps, ...path.steps] }));
    },
  };
}

function unknownStep(table: KernelTable): Step {
  return {
    hook: 'all hooks',
    where: `${table.family} ${table.name}`,
    rule: '',
    effect: 'another program changes this table all the time, so it is followed as it was at some moment',
    ...(!isOurs(table) && { foreign: true }),
    uncertain: true,
  };
}

/** A table, and the number of its family in requests. */
interface ReadTable extends KernelTable {
  readonly familyWord: number;
  readonly isTorn: boolean;
}

interface ReadRuleset {
  /** All tables that packets of a family meet, without elements of sets. */
  readonly tables: readonly ReadTable[];
  /** Those that other programs kept changing, or making and deleting, while they were read. */
  readonly unsteady: readonly KernelTable[];
}

/** @throws NetlinkError if the kernel cannot be read; the signal's reason when it is aborted */
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
  const listed = await listTables(queryRunner(conversation, word, signal));
  return [...listed.values()]
    .filter(({ table }) => ((table.flags ?? 0) & DORMANT) === 0)
    .map((each) => ({ ...kernelTable(family, each), familyWord: word, isTorn: each.isTorn }));
}

const ATTEMPTS = 5;

/** What was read, and what the time before if that is something else. */
interface SteadyReading<T> {
  readonly read: T;
  /** What was read is what there was at one moment. Otherwise other programs changed something of it every time. */
  readonly isSteady: boolean;
  /** From the attempt before. Undefined if there was only one. */
  readonly former: T | undefined;
}

/**
 * Reads until no program commits anything meanwhile, or until the same is read twice: where programs commit all the time, few of them
 * change what is read. Ends after some attempts in any case.
 */
async function readSteadily<T>(
  conversation: NetlinkConversation,
  readOnce: () => Promise<T>,
): Promise<SteadyReading<T>> {
  let former: T | undefined;
  for (let attempt = 1; ; attempt++) {
    const before = await readGeneration(conversation);
    const read = await readOnce();
    const isSteady = before === (await readGeneration(conversation)) || isDeepStrictEqual(read, former);
    if (isSteady || attempt === ATTEMPTS) return { read, isSteady, former };
    former = read;
  }
}

/** What the kernel has of the elements that a walk needs. */
export async function readElements(
  conversation: NetlinkConversation,
  { table, set, keys }: WantedElements,
): Promise<readonly KernelElement[]> {
  const { familyWord } = table as ReadTable;
  const place = { familyWord, table: table.name, set: set.name };
  if (keys === 'all') return (await readSteadily(conversation, () => list(conversation, place))).read;
  const found: KernelElement[] = [];
  for (let from = 0; from < keys.length; from += LOOKED_UP_AT_ONCE)
    found.push(...lookUp(conversation, place, keys.slice(from, from + LOOKED_UP_AT_ONCE)));
  return found;
}

async function list(conversation: NetlinkConversation, place: SetPlace): Promise<readonly KernelElement[]> {
  const found: KernelElement[] = [];
  const put = (writer: MessageWriter) => putSet(writer, place);
  const onMessage = (message: NetlinkMessage) => void found.push(...elementsOf(message));
  const query = queryRunner(conversation, place.familyWord);
  await query({ type: nf.GETSETELEM, name: `GETSETELEM of ${place.set}`, all: true, put, onMessage });
  return found;
}

function lookUp(
  conversation: NetlinkConversation,
  place: SetPlace,
  keys: readonly Uint8Array[],
): Iterable<KernelElement> {
  const found = new Map<string, KernelElement>();
  const textOf = (key: Uint8Array) => Buffer.from(key).toString('latin1');
  lookUpElements(conversation, place, keys, {
    put: putKey,
    read(message) {
      for (const element of elementsOf(message)) found.set(textOf(element.key!), element);
    },
    has: (key) => found.has(textOf(key)),
  });
  return found.values();
}

function putKey(writer: MessageWriter, key: Uint8Array): void {
  const element = writer.beginNest(nf.LIST_ELEMENT);
  const data = writer.beginNest(nf.ELEMENT.KEY);
  writer.putBytes(nf.DATA.VALUE, key);
  writer.endNest(data);
  writer.endNest(element);
}

function elementsOf(message: NetlinkMessage): readonly KernelElement[] {
  return (recordOf(ELEMENTS, message).list ?? []).map(kernelElement);
}
