import type { KernelElement } from '../../../../domain/nftables/kernel/ruleset.js';
import type { AttributeReader } from '../../../netlink/attribute-reader.js';
import { ENOENT } from '../../../netlink/errno.js';
import { NetlinkRequestError } from '../../../netlink/errors.js';
import type { NetlinkMessage } from '../../../netlink/message-reader.js';
import type { MessageWriter } from '../../../netlink/message-writer.js';
import type { NetlinkChannel } from '../../../netlink/netlink-channel.js';
import * as nf from '../nf-tables.js';
import { attributesOf, readUserdata } from '../read/table-reader.js';
import { readKernelVerdict, readValue } from './read-expression.js';
import type { ReadTable } from './read-ruleset.js';

/** Elements in one request: a millisecond's work. */
const AT_ONCE = 256;

/** All elements of a set. */
export async function listElements(
  channel: NetlinkChannel,
  table: ReadTable,
  set: string,
): Promise<readonly KernelElement[]> {
  const found: KernelElement[] = [];
  const put = (writer: MessageWriter) => putSet(writer, table, set);
  const request = { type: nf.GETSETELEM, attempt: `listing the set ${set} of nf_tables`, put };
  await channel.dump(request, (message) => readElements(message, found));
  return found;
}

/** The elements of these keys that the set has. */
export async function lookUpElements(
  channel: NetlinkChannel,
  table: ReadTable,
  set: string,
  keys: readonly Uint8Array[],
): Promise<readonly KernelElement[]> {
  const found: KernelElement[] = [];
  const ask = (wanted: readonly Uint8Array[]): Promise<boolean> =>
    channel.runExclusive((conversation) => {
      const attempt = `looking up elements of the set ${set} of nf_tables`;
      const put = (writer: MessageWriter): void => {
        putSet(writer, table, set);
        const list = writer.beginNest(nf.ELEMENTS.LIST);
        for (const key of wanted) putKey(writer, key);
        writer.endNest(list);
      };
      const request = { type: nf.GETSETELEM, attempt, put };
      const { errno, explanation } = conversation.askForSeveral(request, (message) =>
        readElements(message, found),
      );
      if (errno === 0 || errno === ENOENT) return Promise.resolve(errno === 0);
      return Promise.reject(new NetlinkRequestError(attempt, errno, explanation));
    });
  for (let from = 0; from < keys.length; from += AT_ONCE) {
    const some = keys.slice(from, from + AT_ONCE);
    // The kernel stops at the first that it does not have. Those found twice are the same.
    if (!(await ask(some)) && some.length > 1) for (const key of some) await ask([key]);
  }
  return found;
}

function putSet(writer: MessageWriter, table: ReadTable, set: string): void {
  writer.putWord(table.familyWord);
  writer.putText(nf.ELEMENTS.TABLE, table.name);
  writer.putText(nf.ELEMENTS.SET, set);
}

function putKey(writer: MessageWriter, key: Uint8Array): void {
  const element = writer.beginNest(nf.LIST_ELEMENT);
  const data = writer.beginNest(nf.ELEMENT.KEY);
  writer.putBytes(nf.DATA.VALUE, key);
  writer.endNest(data);
  writer.endNest(element);
}

/** The elements in a message, added to those found. */
export function readElements(message: NetlinkMessage, found: KernelElement[]): void {
  const attributes = attributesOf(message);
  while (attributes.next()) {
    if (attributes.type !== nf.ELEMENTS.LIST) continue;
    const list = attributes.nested();
    while (list.next()) found.push(readElement(list.nested()));
  }
}

function readElement(attributes: AttributeReader): KernelElement {
  let element: KernelElement = {};
  while (attributes.next()) {
    switch (attributes.type) {
      case nf.ELEMENT.KEY: {
        const key = readValue(attributes.nested());
        if (key) element = { ...element, key };
        break;
      }
      case nf.ELEMENT.LAST_KEY: {
        const lastKey = readValue(attributes.nested());
        if (lastKey) element = { ...element, lastKey };
        break;
      }
      case nf.ELEMENT.DATA: {
        const value = readValue(attributes.nested());
        const verdict = readKernelVerdict(attributes.nested());
        element = { ...element, ...(value && { value }), ...(verdict && { verdict }) };
        break;
      }
      case nf.ELEMENT.FLAGS:
        if ((attributes.number() & nf.ELEMENT_FLAG.INTERVAL_END) !== 0) element = { ...element, isEnd: true };
        break;
      case nf.ELEMENT.USERDATA: {
        const { comment } = readUserdata(attributes.value());
        if (comment !== undefined) element = { ...element, comment };
        break;
      }
    }
  }
  return element;
}
