import type { NetlinkMessage } from '../../../netlink/message-reader.js';
import * as nf from '../nf-tables.js';
import { attributesOf } from './table-reader.js';

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
  const { bytes, start } = message;
  const attributes = attributesOf(message);
  let generation = 0;
  let process: number | undefined;
  while (attributes.next()) {
    if (attributes.type === nf.GENERATION.ID) generation = attributes.number();
    else if (attributes.type === nf.GENERATION.PROCESS) process = attributes.number();
  }
  return { generation, port: bytes.readUInt32LE(start - PORT_BEFORE_PAYLOAD), process };
}
