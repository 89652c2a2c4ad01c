import { Attributes, Refusal } from './attributes.js';
import { MessageBuilder } from './message-builder.js';
import { aligned, E, HEADER, NLM_F, NLMSG, NLMSGERR_ATTR } from './numbers.js';

/** A netlink socket as the simulated kernel sees it. */
export interface KernelSocket {
  /** The address of the socket (`nl_pid`), unique among those of its protocol that are open. */
  readonly port: number;
  /** The number of the process that opened it. */
  readonly process: number;
  /** Whether a dump has not been read to its end; the kernel begins no other one on the socket (EBUSY). */
  readonly isDumping: boolean;
  /** How many bytes a datagram of a dump may have now: many, once its reader has shown that it has room for them. */
  readonly room: number;
  /** Queues a datagram for the next `recv`; one that does not fit is lost, and `recv` then says so once (ENOBUFS). */
  deliver(datagram: Buffer): void;
  /**
   * Queues a dump: each `recv` makes the next datagram, while it takes the one before, so that what changes in between can be seen
   * by it, as in the kernel.
   */
  deliverLater(datagrams: Iterator<Buffer>): void;
  /** What is delivered from now on is lost until all that is queued has been read, as if there were no more room. */
  lose(): void;
}

/** One protocol of netlink (NETLINK_ROUTE, NETLINK_NETFILTER, NETLINK_GENERIC), or a part of one. */
export interface NetlinkProtocol {
  /** Works on what one `send` carries: one message or several. When it returns, all answers are queued, as with the kernel. */
  handle(socket: KernelSocket, bytes: Buffer): void;
  /** The socket is gone, and what it owned may go with it. */
  closed?(socket: KernelSocket): void;
}

/** Sends to all sockets that hear a multicast group of a protocol, by the group's number, from 1 on. */
export type Multicast = (group: number, datagram: Buffer) => void;

/** A message to the kernel. */
export class Request {
  constructor(
    readonly bytes: Buffer,
    /** Where its header begins, and where it ends. */
    readonly start: number,
    readonly end: number,
  ) {}

  get type(): number {
    return this.bytes.readUInt16LE(this.start + 4);
  }

  get flags(): number {
    return this.bytes.readUInt16LE(this.start + 6);
  }

  get sequence(): number {
    return this.bytes.readUInt32LE(this.start + 8);
  }

  /** What follows the header. */
  get payload(): Buffer {
    return this.bytes.subarray(this.start + HEADER, this.end);
  }

  get isDump(): boolean {
    return this.has(NLM_F.DUMP);
  }

  /** Whether it is for the kernel, and not for netlink itself. */
  get isForKernel(): boolean {
    return this.has(NLM_F.REQUEST) && this.type >= NLMSG.MIN_TYPE;
  }

  has(flag: number): boolean {
    return (this.flags & flag) === flag;
  }

  /** Those behind a header of so many bytes. @throws Refusal (EINVAL) if it is shorter */
  attributes(header: number): Attributes {
    const from = this.start + HEADER + header;
    if (from > this.end) throw new Refusal(E.EINVAL);
    return new Attributes(this.bytes, from, this.end, true);
  }
}

/** The message that begins here, if it is whole. */
export function requestAt(bytes: Buffer, start: number): Request | undefined {
  if (start + HEADER > bytes.length) return undefined;
  const end = start + bytes.readUInt32LE(start);
  return end < start + HEADER || end > bytes.length ? undefined : new Request(bytes, start, end);
}

/** The messages that one `send` carries, up to one that does not fit. */
export function* requestsIn(bytes: Buffer): Generator<Request> {
  let request = requestAt(bytes, 0);
  while (request) {
    yield request;
    request = requestAt(bytes, request.start + aligned(request.end - request.start));
  }
}

/** A dump was begun, whose end is its answer. */
export const DUMPING = 'dumping';

/** Works on messages one after the other, and acknowledges those that ask for it and those that are refused (`netlink_rcv_skb`). */
export function answerEach(
  socket: KernelSocket,
  bytes: Buffer,
  work: (request: Request) => typeof DUMPING | void,
): void {
  for (const request of requestsIn(bytes))
    try {
      if (request.isForKernel && work(request) === DUMPING) continue;
      if (request.has(NLM_F.ACK)) acknowledge(socket, request);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      acknowledge(socket, request, error);
    }
}

const builder = new MessageBuilder();

/** As for sockets with NETLINK_CAP_ACK and NETLINK_EXT_ACK: without what was sent, and with an explanation. */
export function acknowledge(
  socket: KernelSocket,
  { bytes, start, sequence }: Request,
  { errno, at, explanation }: Pick<Refusal, 'errno' | 'at' | 'explanation'> = { errno: 0 },
): void {
  const flags = NLM_F.CAPPED | (explanation === undefined && at === undefined ? 0 : NLM_F.ACK_TLVS);
  const error = Buffer.alloc(4);
  error.writeInt32LE(-errno);
  builder
    .begin(NLMSG.ERROR, flags, sequence, socket.port)
    .raw(error)
    .raw(bytes.subarray(start, start + HEADER));
  builder.text(NLMSGERR_ATTR.MSG, explanation);
  builder.u32(NLMSGERR_ATTR.OFFS, at === undefined ? undefined : at - start);
  socket.deliver(builder.end().take());
}

/** Answers a request with one message. */
export function tell(
  socket: KernelSocket,
  { sequence }: Request,
  type: number,
  put: (builder: MessageBuilder) => void,
  flags = 0,
): void {
  builder.begin(type, flags, sequence, socket.port);
  put(builder);
  socket.deliver(builder.end().take());
}

/** What is listed, and how. */
export interface Listing<T> {
  /** Asked for the next one only when the datagram is made that it goes into. */
  readonly items: Iterator<T, unknown>;
  /** Writes the body of a message. */
  readonly put: (builder: MessageBuilder, item: T) => void;
  readonly type: number;
  /** In addition to those of every dump. */
  readonly flags?: number;
  /** Changes with what is listed, so that what is seen of both states is marked; without it, nothing is. */
  readonly version?: () => number;
}

/** Bytes of the first datagram, which is made while the request is sent, and of the others; no message is longer than the last number. */
const [FIRST, FOLLOWING, LARGEST] = [3_776, 32_448, 768];

/** Queues a dump: datagrams with what is listed, made one after the other while it is read, and one that ends it. */
export function dump<T>(socket: KernelSocket, request: Request, listing: Listing<T>): typeof DUMPING {
  if (socket.isDumping) throw new Refusal(E.EBUSY);
  socket.deliverLater(datagramsOf(socket.port, request, listing));
  return DUMPING;
}

function* datagramsOf<T>(
  port: number,
  { sequence }: Request,
  { items, put, type, flags = 0, version = () => 0 }: Listing<T>,
): Generator<Buffer, void> {
  const own = new MessageBuilder();
  let seen = version();
  const mark = (): void => {
    if (version() !== seen) own.flag(NLM_F.DUMP_INTR);
    seen = version();
  };
  let room = FIRST;
  for (let next = items.next(); !next.done; next = items.next()) {
    own.begin(type, NLM_F.MULTI | flags, sequence, port);
    mark();
    put(own, next.value);
    own.end();
    if (own.length + LARGEST <= room) continue;
    yield own.take();
    room = FOLLOWING;
  }
  if (own.length > 0) yield own.take();
  own.begin(NLMSG.DONE, NLM_F.MULTI, sequence, port);
  mark();
  yield own.raw(Buffer.alloc(4)).end().take();
}

/** A protocol that can refuse requests although nothing is wrong with them. */
export class FaultyProtocol {
  private readonly changes: { readonly errno: number; left: number }[] = [];
  private readonly questions: typeof this.changes = [];

  /** The next requests that change something are refused. */
  refuseNext(errno: number, count = 1): void {
    this.changes.push({ errno, left: count });
  }

  /** The next questions and listings are refused. */
  refuseQuestions(errno: number, count = 1): void {
    this.questions.push({ errno, left: count });
  }

  /** Nothing is refused any more without a reason. */
  endTrouble(): void {
    this.changes.length = 0;
    this.questions.length = 0;
  }

  /** To be called once for each request. @throws Refusal */
  protected meet(isQuestion: boolean): void {
    const planned = isQuestion ? this.questions : this.changes;
    const [next] = planned;
    if (!next) return;
    if (--next.left <= 0) planned.shift();
    throw new Refusal(next.errno);
  }
}
