import { NetlinkRequestError } from './errors.js';
import type { KernelReply } from './message-reader.js';
import type { MessageWriter } from './message-writer.js';
import { NLM_F_REQUEST } from './protocol.js';

/** One request, without what every message contains. */
export interface NetlinkRequest {
  readonly type: number;
  /** In addition to those for a request and for the kind of answer. */
  readonly flags?: number;
  /** For errors: what was attempted, on what. */
  readonly attempt: string;
  /** Writes the family's own header and the attributes. */
  put(writer: MessageWriter): void;
}

/**
 * Writes the message of a request.
 * @param answer the flag for the kind of answer: NLM_F_DUMP for all objects of a kind, NLM_F_ACK for an
 * acknowledgement, 0 for the one requested object
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

/**
 * Whether a request succeeded; false at one of the error numbers that the caller knows what to make of.
 * @throws NetlinkRequestError at any other
 */
export function succeeded(
  { attempt }: Pick<NetlinkRequest, 'attempt'>,
  { errno, explanation }: KernelReply,
  expected: readonly number[] = [],
): boolean {
  if (errno === 0) return true;
  if (expected.includes(errno)) return false;
  throw new NetlinkRequestError(attempt, errno, explanation);
}
