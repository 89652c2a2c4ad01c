/** Requests to nf_tables, and the generations of its transactions. */

import { ENOENT } from '../../netlink/errors.js';
import type { NetlinkMessage } from '../../netlink/message-reader.js';
import type { MessageWriter } from '../../netlink/message-writer.js';
import { succeeded, type NetlinkConversation } from '../../netlink/netlink-channel.js';
import { NLM_F_DUMP } from '../../netlink/protocol.js';
import * as nf from './nf-tables.js';
import { GENERATION, recordOf } from './records.js';

/** A query about one family. */
interface Query {
  readonly type: number;
  /** For messages. */
  readonly name: string;
  /** Requests all objects of the kind rather than one. */
  readonly all?: boolean;
  readonly put?: (writer: MessageWriter) => void;
  readonly onMessage?: (message: NetlinkMessage) => void;
}

/** Queries the kernel; false if the requested object does not exist. Rejects with a NetlinkError if the kernel rejects the query. */
export type RunQuery = (query: Query) => Promise<boolean>;

/**
 * Runs queries about a family.
 * @param signal answers stop, with its reason, soon after it is aborted
 */
export function queryRunner(
  conversation: NetlinkConversation,
  familyWord: number,
  signal?: AbortSignal,
): RunQuery {
  return async ({ type, name, all = false, put, onMessage }) => {
    const request = {
      type,
      attempt: `${name} of nf_tables`,
      put(writer: MessageWriter) {
        writer.putWord(familyWord);
        put?.(writer);
      },
    };
    const reply = await conversation.exchange(request, all ? NLM_F_DUMP : 0, (message) => {
      signal?.throwIfAborted();
      onMessage?.(message);
    });
    return succeeded(request, reply, [ENOENT]);
  };
}

/** The number of the last transaction in this network namespace that changed something. */
export async function readGeneration(conversation: NetlinkConversation): Promise<number> {
  let generation = 0;
  const onMessage = (message: NetlinkMessage): void => void ({ generation } = readCommit(message));
  await queryRunner(conversation, 0)({ type: nf.GETGEN, name: 'GETGEN', onMessage });
  return generation;
}

/** The content of NFT_MSG_NEWGEN about a transaction, or about the last one. */
interface Commit {
  /** 0 if it does not say. */
  readonly generation: number;
  /** The netlink port of the sender of the transaction. In an answer to GETGEN that of the requester. */
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
