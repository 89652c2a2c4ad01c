import { AttributeReader } from './attribute-reader.js';
import { ENOENT } from './errno.js';
import type { MessageWriter } from './message-writer.js';
import type { NetlinkChannel } from './netlink-channel.js';

/** linux/genetlink.h */
const GENL_ID_CTRL = 0x10;
const CTRL_CMD_GETFAMILY = 3;
const CTRL_ATTR_FAMILY_ID = 1;
const CTRL_ATTR_FAMILY_NAME = 2;
/** Bytes of struct genlmsghdr. */
export const GENERIC_HEADER_LENGTH = 4;

/** struct genlmsghdr as a word: command and version. */
export function genericHeader(command: number, version: number): number {
  return command | (version << 8);
}

/**
 * The number that the kernel has given to a family of generic netlink; it may change when the family's module is loaded
 * again. Undefined if the kernel does not know the family.
 */
export function findGenericFamily(channel: NetlinkChannel, name: string): Promise<number | undefined> {
  const request = {
    type: GENL_ID_CTRL,
    attempt: `asking for the netlink family ${name}`,
    put: (writer: MessageWriter) => {
      writer.putWord(genericHeader(CTRL_CMD_GETFAMILY, 1));
      writer.putText(CTRL_ATTR_FAMILY_NAME, name);
    },
  };
  return channel.find(request, [ENOENT], ({ bytes, start, end }) => {
    const attributes = new AttributeReader(bytes, start + GENERIC_HEADER_LENGTH, end);
    while (attributes.next()) if (attributes.type === CTRL_ATTR_FAMILY_ID) return attributes.hostNumber();
    return undefined;
  });
}
