/** Reads our table with its elements. */

import { setTimeout as pause } from 'node:timers/promises';
import type { IpFamily } from '../../../domain/net/ip-family.js';
import { TABLE_NAME, type SetDefinition, type SetElement } from '../../../domain/nftables/layout/table.js';
import { UnsafeTextError } from '../../../domain/nftables/safe-text.js';
import { EINVAL, NetlinkRequestError } from '../../netlink/errors.js';
import type { NetlinkMessage } from '../../netlink/message-reader.js';
import type { MessageWriter } from '../../netlink/message-writer.js';
import type { NetlinkConversation } from '../../netlink/netlink-channel.js';
import { familyNumber } from '../../netlink/protocol.js';
import type { SetState, TableState } from '../transport.js';
import type { RunQuery } from './queries.js';
import { listCounters } from './counters.js';
import { ElementEncoder, ElementReader, lookUpElements, putSet } from './elements.js';
import * as nf from './nf-tables.js';
import { listedSetText, setLayout, setText } from './set-layout.js';
import type { ListedTable } from './kernel-table.js';

const ELEMENT_ATTEMPTS = 20;
const PAUSE_MILLISECONDS = 20;

/**
 * Our table as it was listed, with the elements of sets that have an expected layout. Transactions on other tables do not disturb
 * this. Undefined if a set was not found, or its elements changed all the time.
 */
export async function readState(
  query: RunQuery,
  listed: ListedTable,
  family: IpFamily,
  expected: readonly SetDefinition[],
): Promise<TableState | undefined> {
  const sets = new Map<string, SetState>();
  const definitions = new Map(expected.map((set) => [set.name, set]));
  for (const [name, set] of listed.sets) {
    if (((set.flags ?? 0) & nf.SET_FLAG.ANONYMOUS) !== 0) continue;
    const { count } = set;
    const layout = listedSetText(set);
    const definition = definitions.get(name);
    const known = definition?.dynamicSize === undefined && definition;
    const elements =
      known && layout === setText(family, known)
        ? await readElements(query, family, known, count)
        : new Map<string, SetElement>();
    if (!elements) return undefined;
    const all = (await hasCatchAll(query, name)) ? ' and an element for all other keys' : '';
    sets.set(name, { layout: layout + all, elements, count });
  }
  const chains = new Map([...listed.chains].filter(([, { isAnonymous }]) => !isAnonymous));
  const counters = new Set((await listCounters(query)).keys());
  return { chains, sets, counters, isDormant: ((listed.table.flags ?? 0) & nf.DORMANT) !== 0 };
}

/**
 * The elements of a set. The kernel grows its hash table in the background after large insertions, and a dump meanwhile
 * omits some elements and repeats others, without any indication. So a dump is valid if no element came twice and their
 * number is the kernel's count, or the same as in the dump before.
 */
async function readElements(
  query: RunQuery,
  family: IpFamily,
  set: SetDefinition,
  count: number | undefined,
): Promise<ReadonlyMap<string, SetElement> | undefined> {
  let former: number | undefined;
  for (let attempt = 0; attempt < ELEMENT_ATTEMPTS; attempt++) {
    if (attempt > 0) await pause(PAUSE_MILLISECONDS);
    const reader = new ElementReader(setLayout(family, set));
    if (!(await listElements(query, set, reader))) return undefined;
    const { elements, seen } = reader;
    const { size } = elements;
    if (seen === size && (count === undefined || size === count || size === former)) return elements;
    former = size;
  }
  return undefined;
}

/** Whether a set of ours has an element for all keys without one of their own, which the kernel does not count. */
async function hasCatchAll(query: RunQuery, set: string): Promise<boolean> {
  const put = (writer: MessageWriter): void => {
    putSet(writer, { table: TABLE_NAME, set });
    const list = writer.beginNest(nf.ELEMENTS.LIST);
    const element = writer.beginNest(nf.LIST_ELEMENT);
    writer.putU32(nf.ELEMENT.FLAGS, nf.ELEMENT_FLAG.CATCH_ALL);
    writer.endNest(element);
    writer.endNest(list);
  };
  try {
    return await query({ type: nf.GETSETELEM, name: `GETSETELEM of ${set}`, put });
  } catch (error) {
    // Kernels before 5.13 have no such elements.
    if (error instanceof NetlinkRequestError && error.errno === EINVAL) return false;
    throw error;
  }
}

/** Lists a set of ours once; false if there is none. */
export function listElements(query: RunQuery, set: SetDefinition, reader: ElementReader): Promise<boolean> {
  const put = (writer: MessageWriter) => putSet(writer, { table: TABLE_NAME, set: set.name });
  const onMessage = (message: NetlinkMessage) => reader.read(message);
  return query({ type: nf.GETSETELEM, name: 'GETSETELEM', all: true, put, onMessage });
}

/**
 * The elements of these keys in a set of ours, as lookUpElements finds them.
 * @param keys the kernel has none that cannot be written
 */
export function lookUpOwn(
  conversation: NetlinkConversation,
  family: IpFamily,
  set: SetDefinition,
  keys: readonly string[],
): ElementReader['elements'] {
  const layout = setLayout(family, set);
  const reader = new ElementReader(layout);
  const place = { familyWord: familyNumber(family), table: TABLE_NAME, set: set.name };
  let encoder: ElementEncoder | undefined;
  lookUpElements(conversation, place, keys, {
    put(writer, key) {
      const start = writer.length;
      encoder ??= new ElementEncoder(writer);
      try {
        encoder.put(set, layout, { key }, false);
      } catch (error) {
        if (!(error instanceof UnsafeTextError)) throw error;
        writer.length = start;
      }
    },
    read: (message) => reader.read(message),
    has: (key) => reader.elements.has(key),
  });
  return reader.elements;
}
