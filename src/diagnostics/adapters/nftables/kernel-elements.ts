import type { KernelElement } from '../../../domain/nftables/kernel/ruleset.js';
import type { WantedElements } from '../../domain/nftables/elements.js';
import type { NetlinkMessage } from '../../../adapters/netlink/message-reader.js';
import type { MessageWriter } from '../../../adapters/netlink/message-writer.js';
import type { NetlinkConversation } from '../../../adapters/netlink/netlink-channel.js';
import * as nf from '../../../adapters/nftables/netlink/nf-tables.js';
import { askerOf } from '../../../adapters/nftables/netlink/ask.js';
import {
  LOOKED_UP_AT_ONCE,
  lookUpElements,
  putSet,
  type SetPlace,
} from '../../../adapters/nftables/netlink/elements.js';
import { kernelElement } from '../../../adapters/nftables/netlink/kernel-table.js';
import { ELEMENTS, recordOf } from '../../../adapters/nftables/netlink/records.js';
import type { ReadTable } from './read-ruleset.js';
import { readSteadily } from './steady-reading.js';

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
  const ask = askerOf(conversation, place.familyWord);
  await ask({ type: nf.GETSETELEM, name: `GETSETELEM of ${place.set}`, all: true, put, onMessage });
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
