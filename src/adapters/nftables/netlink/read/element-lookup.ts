import type { IpFamily } from '../../../../domain/net/ip-family.js';
import { TABLE_NAME, type SetDefinition } from '../../../../domain/nftables/layout/table.js';
import { UnsafeTextError } from '../../../../domain/nftables/text/safe-text.js';
import { ENOENT } from '../../../netlink/errno.js';
import { NetlinkRequestError } from '../../../netlink/errors.js';
import type { MessageWriter } from '../../../netlink/message-writer.js';
import type { NetlinkConversation } from '../../../netlink/netlink-conversation.js';
import { ElementEncoder } from '../encode/element-encoder.js';
import { setLayout, type SetLayout } from '../encode/set-layout.js';
import * as nf from '../nf-tables.js';
import { ElementReader } from './table-reader.js';

/** Elements in one request: a millisecond's work for the kernel and this thread. Their answers fit into the receive buffer. */
export const LOOKED_UP_AT_ONCE = 256;

/**
 * Asks the kernel for the elements of these keys, without yielding to the event loop. It costs about 4 µs an element in a set of
 * any size, where listing a set costs each element the more the larger the set is.
 * @param keys at most LOOKED_UP_AT_ONCE; the kernel has none that cannot be written
 */
export function lookUpElements(
  conversation: NetlinkConversation,
  family: IpFamily,
  set: SetDefinition,
  keys: readonly string[],
): ElementReader['elements'] {
  const layout = setLayout(family, set);
  const reader = new ElementReader(layout);
  const ask = (wanted: readonly string[]): boolean => {
    const request = {
      type: nf.GETSETELEM,
      attempt: `looking up elements of the set ${set.name} of nf_tables`,
      put(writer: MessageWriter) {
        const encoder = new ElementEncoder(writer);
        writer.putWord(nf.familyWord(family));
        writer.putText(nf.ELEMENTS.TABLE, TABLE_NAME);
        writer.putText(nf.ELEMENTS.SET, set.name);
        const list = writer.beginNest(nf.ELEMENTS.LIST);
        for (const key of wanted) putKey(encoder, writer, set, layout, key);
        writer.endNest(list);
      },
    };
    const { errno, explanation } = conversation.askForSeveral(request, (message) => reader.read(message));
    if (errno !== 0 && errno !== ENOENT) throw new NetlinkRequestError(request.attempt, errno, explanation);
    return errno === 0;
  };
  // The kernel stops at the first that it does not have.
  if (!ask(keys)) for (const key of keys) if (!reader.elements.has(key)) ask([key]);
  return reader.elements;
}

function putKey(
  encoder: ElementEncoder,
  writer: MessageWriter,
  set: SetDefinition,
  layout: SetLayout,
  key: string,
): void {
  const start = writer.length;
  try {
    encoder.put(set, layout, { key }, false);
  } catch (error) {
    if (!(error instanceof UnsafeTextError)) throw error;
    writer.length = start;
  }
}
