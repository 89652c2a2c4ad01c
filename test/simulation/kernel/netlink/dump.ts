import type { KernelSocket } from '../netlink-protocol.js';
import { MessageBuilder } from './message-builder.js';
import { EBUSY, NLM_F_DUMP_INTR, NLM_F_MULTI, NLMSG_DONE } from './numbers.js';
import { DUMPING, refuse, type Outcome, type Request } from './requests.js';

/** What is listed, and how. */
export interface Listing<T> {
  /** The next one; undefined at the end. Asked for only when the datagram is made that it goes into. */
  readonly next: () => T | undefined;
  /** Writes the body of a message. */
  readonly put: (builder: MessageBuilder, item: T) => void;
  readonly type: number;
  /** In addition to those of every dump. */
  readonly flags?: number;
  /** Changes with what is listed, so that what is seen of both states is marked; without it, nothing is. */
  readonly version?: () => number;
}

/** Bytes of the first datagram, which is made while the request is sent, and of the others. */
const [FIRST, FOLLOWING] = [3_776, 32_448];

/** Queues a dump: datagrams with what is listed, made one after the other while it is read, and one that ends it. */
export function dump<T>(socket: KernelSocket, request: Request, listing: Listing<T>): Outcome {
  if (socket.isDumping) return refuse(EBUSY);
  socket.deliverLater(datagramsOf(socket.port, request, listing));
  return DUMPING;
}

function* datagramsOf<T>(
  port: number,
  { sequence }: Request,
  { next, put, type, flags = 0, version = () => 0 }: Listing<T>,
): Generator<Buffer, void> {
  const builder = new MessageBuilder();
  let seen = version();
  const mark = (): void => {
    if (version() !== seen) builder.flag(NLM_F_DUMP_INTR);
    seen = version();
  };
  let room = FIRST;
  for (let item = next(); item !== undefined; item = next()) {
    builder.begin(type, NLM_F_MULTI | flags, sequence, port);
    mark();
    put(builder, item);
    builder.end();
    if (builder.length + LARGEST <= room) continue;
    yield builder.take();
    room = FOLLOWING;
  }
  if (builder.length > 0) yield builder.take();
  builder.begin(NLMSG_DONE, NLM_F_MULTI, sequence, port);
  mark();
  yield builder.raw(Buffer.alloc(4)).end().take();
}

/** No message is longer. */
const LARGEST = 768;
