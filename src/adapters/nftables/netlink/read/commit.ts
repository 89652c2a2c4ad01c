import type { NetlinkMessage } from '../../../netlink/message-reader.js';
import { GENERATION, recordOf } from '../messages/records.js';

/** What NFT_MSG_NEWGEN tells of a transaction, or of the last one. */
export interface Commit {
  /** 0 if it does not say. */
  readonly generation: number;
  /** The netlink port of who sent the transaction. In an answer to GETGEN that of who asks. */
  readonly port: number;
  /** Who sent it, by the number that the process has outside of all containers. Undefined on old kernels. */
  readonly process: number | undefined;
}

/** From the payload back to the sender's port in the header. */
const PORT_BEFORE_PAYLOAD = 4;

export function readCommit(message: NetlinkMessage): Commit {
  const { id = 0, process } = recordOf(GENERATION, message);
  const port = message.bytes.readUInt32LE(message.start - PORT_BEFORE_PAYLOAD);
  return { generation: id, port, process };
}
