import type { KernelSocket } from '../netlink-protocol.js';
import { MessageBuilder } from './message-builder.js';
import {
  aligned,
  HEADER,
  NLM_F_ACK,
  NLM_F_ACK_TLVS,
  NLM_F_CAPPED,
  NLM_F_DUMP,
  NLM_F_REQUEST,
  NLMSG_ERROR,
  NLMSG_MIN_TYPE,
  NLMSGERR_ATTR_MSG,
  NLMSGERR_ATTR_OFFS,
} from './numbers.js';

/** A message to the kernel. */
export interface Request {
  readonly type: number;
  readonly flags: number;
  readonly sequence: number;
  readonly header: Buffer;
  /** What follows the header. */
  readonly payload: Buffer;
}

/** Why the kernel does not do what it was asked for. */
export interface Refusal {
  readonly errno: number;
  readonly explanation?: string;
  /** Where the offending attribute begins, in bytes from the start of the message. */
  readonly offset?: number;
}

/** A dump was begun, whose end is its answer. */
export const DUMPING = 'dumping';

/** What became of a request; undefined when it was done. */
export type Outcome = Refusal | typeof DUMPING | undefined;

export function refuse(errno: number, explanation?: string): Refusal {
  return { errno, ...(explanation !== undefined && { explanation }) };
}

/** @param errno 0 when it was done */
export function outcomeOf(errno: number, explanation?: string): Outcome {
  return errno === 0 ? undefined : refuse(errno, explanation);
}

export function asksForAll({ flags }: Request): boolean {
  return (flags & NLM_F_DUMP) === NLM_F_DUMP;
}

/** The messages that one `send` carries, up to one that does not fit. */
export function* requestsIn(bytes: Buffer): Generator<Request> {
  for (let at = 0; at + HEADER <= bytes.length;) {
    const length = bytes.readUInt32LE(at);
    if (length < HEADER || at + length > bytes.length) return;
    yield {
      type: bytes.readUInt16LE(at + 4),
      flags: bytes.readUInt16LE(at + 6),
      sequence: bytes.readUInt32LE(at + 8),
      header: bytes.subarray(at, at + HEADER),
      payload: bytes.subarray(at + HEADER, at + length),
    };
    at += aligned(length);
  }
}

/** Works on messages one after the other, and acknowledges those that ask for it and those that are refused (`netlink_rcv_skb`). */
export function answerEach(socket: KernelSocket, bytes: Buffer, work: (request: Request) => Outcome): number {
  for (const request of requestsIn(bytes)) {
    const forTheKernel = (request.flags & NLM_F_REQUEST) !== 0 && request.type >= NLMSG_MIN_TYPE;
    const outcome = forTheKernel ? work(request) : undefined;
    if (outcome !== DUMPING && (outcome || (request.flags & NLM_F_ACK) !== 0))
      acknowledge(socket, request, outcome);
  }
  return 0;
}

const builder = new MessageBuilder();

/** As for sockets with NETLINK_CAP_ACK and NETLINK_EXT_ACK: without what was sent, and with an explanation. */
export function acknowledge(
  socket: KernelSocket,
  { sequence, header }: Pick<Request, 'sequence' | 'header'>,
  refusal?: Refusal,
): void {
  const { errno = 0, explanation, offset } = refusal ?? {};
  const isBare = explanation === undefined && offset === undefined;
  const flags = NLM_F_CAPPED | (isBare ? 0 : NLM_F_ACK_TLVS);
  const error = Buffer.alloc(4);
  error.writeInt32LE(-errno);
  builder.begin(NLMSG_ERROR, flags, sequence, socket.port).raw(error).raw(header);
  if (explanation !== undefined) builder.text(NLMSGERR_ATTR_MSG, explanation);
  if (offset !== undefined) builder.u32(NLMSGERR_ATTR_OFFS, offset);
  socket.deliver(builder.end().take());
}
