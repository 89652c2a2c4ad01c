import type { MessageWriter } from './message-writer.js';
import { NLM_F_REQUEST } from './protocol.js';

/** One request, without what stands in every message. */
export interface NetlinkRequest {
  readonly type: number;
  /** Besides those that say that it is a request, and how it is to be answered. */
  readonly flags?: number;
  /** For errors: what is tried, on what. */
  readonly attempt: string;
  /** Writes the family's own header and the attributes. */
  put(writer: MessageWriter): void;
}

/**
 * Writes the message of a request.
 * @param answer the flag that says how it is to be answered: NLM_F_DUMP with everything of a kind, NLM_F_ACK with an
 *   acknowledgement, 0 with the one thing that is asked for
 */
export function writeRequest(
  writer: MessageWriter,
  { type, flags = 0, put }: Pick<NetlinkRequest, 'type' | 'flags' | 'put'>,
  answer: number,
  sequence: number,
): void {
  const start = writer.beginMessage(type, NLM_F_REQUEST | flags | answer, sequence);
  put(writer);
  writer.endMessage(start);
}
