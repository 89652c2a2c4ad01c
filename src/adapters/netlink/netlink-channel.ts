import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import {
  LIST_ATTEMPTS,
  NetlinkClosedError,
  NetlinkRequestError,
  NetlinkUnsteadyError,
  EPERM,
  NetlinkPermissionError,
  NetlinkProtocolError,
} from './errors.js';
import type { KernelReply, NetlinkMessage } from './message-reader.js';
import { MessageWriter } from './message-writer.js';
import type { NetlinkSocket } from './netlink-socket.js';
import { NLM_F_DUMP, NLM_F_ACK, NLM_F_REQUEST } from './protocol.js';

/**
 * Requests to the kernel over its own socket, in the network namespace of this process. Calls run one after the other.
 * After an unexpected error the socket is closed, since it may still contain answers; the next call opens another.
 * Every call rejects with a NetlinkError if the kernel cannot be reached, and with NetlinkPermissionError if it rejects
 * this process.
 */
export class NetlinkChannel {
  private readonly conversation: NetlinkConversation;
  private last: Promise<unknown> = Promise.resolve();
  /** How many have not ended. */
  private calls = 0;
  private closed = false;

  /** @param isAnswer whether an error is the kernel's answer, so that nothing more is waiting to be read */
  constructor(
    openSocket: () => NetlinkSocket,
    private readonly isAnswer: (error: unknown) => boolean = (error) => error instanceof NetlinkRequestError,
  ) {
    this.conversation = new NetlinkConversation(openSocket);
  }

  /** Opens the socket now rather than with the first call. Throws a NetlinkError if netlink is unavailable. */
  open(): void {
    void this.conversation.socket;
  }

  /** Has a channel while it is used. */
  static async during<T>(
    openSocket: () => NetlinkSocket,
    use: (channel: NetlinkChannel) => Promise<T>,
  ): Promise<T> {
    const channel = new NetlinkChannel(openSocket);
    try {
      return await use(channel);
    } finally {
      await channel.close();
    }
  }

  /**
   * Requests one object, which `read` takes from the message that carries it. Undefined if the kernel answers with one of the
   * error numbers that say that there is none; rejects with NetlinkRequestError at any other.
   */
  async find<T>(
    request: NetlinkRequest,
    absent: readonly number[],
    read: (message: NetlinkMessage) => T | undefined,
  ): Promise<T | undefined> {
    let found: T | undefined;
    const reply = await this.runExclusive((conversation) =>
      conversation.exchange(request, 0, (message) => (found = read(message))),
    );
    return succeeded(request, reply, absent) ? found : undefined;
  }

  /**
   * Requests all objects of a kind, again when they change meanwhile. `read` returns undefined for what does not count. Rejects
   * with NetlinkRequestError if the kernel rejects, or they change all the time.
   */
  list<T>(request: NetlinkRequest, read: (message: NetlinkMessage) => T | undefined): Promise<readonly T[]> {
    return this.runExclusive(async (conversation) => {
      for (let count = 0; count < LIST_ATTEMPTS; count++) {
        const found: T[] = [];
        const reply = await conversation.exchange(request, NLM_F_DUMP, (message) => {
          const entry = read(message);
          if (entry !== undefined) found.push(entry);
        });
        if (succeeded(request, reply) && !reply.interrupted) return found;
      }
      throw new NetlinkUnsteadyError(request.attempt);
    });
  }

  /** Performs one request. False at one of the error numbers that say that nothing had to be done. */
  async carryOut(request: NetlinkRequest, needless: readonly number[] = []): Promise<boolean> {
    const [reply] = await this.perform([request]);
    return succeeded(request, reply!, needless);
  }

  /**
   * Performs requests in order, many with one call; a refused one does not stop the others. Yields to the event loop
   * now and then.
   */
  perform(requests: readonly NetlinkRequest[]): Promise<readonly KernelReply[]> {
    return this.runExclusive((conversation) => conversation.perform(requests));
  }

  /** Waits for earlier calls, successful or not, and makes later ones wait until the call is done. */
  runExclusive<T>(call: (conversation: NetlinkConversation) => Promise<T>): Promise<T> {
    if (this.closed) return Promise.reject(new NetlinkClosedError());
    const turn = this.calls === 0 ? this.run(call) : this.last.then(() => this.run(call));
    this.calls++;
    const ended = (): void => void this.calls--;
    this.last = turn.then(ended, ended);
    return turn;
  }

  private async run<T>(call: (conversation: NetlinkConversation) => Promise<T>): Promise<T> {
    try {
      this.open();
      return await call(this.conversation);
    } catch (error) {
      if (!this.isAnswer(error)) this.conversation.giveUp();
      throw error;
    }
  }

  /** Idempotent; later calls fail. Resolves when those before have ended. */
  async close(): Promise<void> {
    this.closed = true;
    await this.last;
    this.conversation.giveUp();
  }
}

/** Sequence numbers have 32 bits; they start over long before the end. */
const MAX_SEQUENCE = 0x8000_0000;

/** Requests sent together: their answers take far less than the receive buffer. */
const AT_ONCE = 256;

/**
 * Requests and their answers over a socket that is opened when needed: as described at NetlinkChannel, but for one
 * caller at a time.
 */
export class NetlinkConversation {
  private readonly writer = new MessageWriter();
  private opened: NetlinkSocket | undefined;
  private following = 1;

  constructor(private readonly openSocket: () => NetlinkSocket) {}

  /** Throws a NetlinkError if netlink is unavailable. */
  get socket(): NetlinkSocket {
    return (this.opened ??= this.openSocket());
  }

  /** The number of the next message. A caller that sends messages itself sets the number after them. */
  get nextSequence(): number {
    if (this.following > MAX_SEQUENCE) this.following = 1;
    return this.following;
  }

  set nextSequence(sequence: number) {
    this.following = sequence;
  }

  /**
   * Requests something, and returns a rejection to the caller.
   * @param answer NLM_F_DUMP for all objects of a kind, 0 for one
   */
  async exchange(
    request: NetlinkRequest,
    answer: typeof NLM_F_DUMP | 0,
    onMessage: (message: NetlinkMessage) => void,
  ): Promise<KernelReply> {
    const { socket, writer } = this;
    writer.length = 0;
    const sequence = this.write(request, answer);
    await socket.send(writer.bytes, writer.length);
    const reply = await socket.receiveAnswer(sequence, answer === 0, onMessage);
    if (reply.errno === EPERM) throw new NetlinkPermissionError(request.attempt);
    return reply;
  }

  /**
   * Requests something and reads the answer immediately, without yielding to the event loop, so it must be short.
   * @param answer NLM_F_DUMP for all objects of a kind, NLM_F_ACK for several named ones, up to the first that does not exist,
   * 0 for one
   */
  exchangeNow(
    request: NetlinkRequest,
    answer: typeof NLM_F_DUMP | typeof NLM_F_ACK | 0,
    onMessage: (message: NetlinkMessage) => void,
  ): KernelReply {
    const { socket, writer } = this;
    writer.length = 0;
    const sequence = this.write(request, answer);
    const reply = socket.exchange(writer.bytes, writer.length, sequence, answer === 0, onMessage);
    if (reply.errno === EPERM) throw new NetlinkPermissionError(request.attempt);
    return reply;
  }

  async perform(requests: readonly NetlinkRequest[]): Promise<readonly KernelReply[]> {
    const replies: KernelReply[] = [];
    for (let from = 0; from < requests.length; from += AT_ONCE) {
      if (from > 0) await yieldToEventLoop();
      replies.push(...(await this.performed(requests.slice(from, from + AT_ONCE))));
    }
    return replies;
  }

  /** Closes the socket. Idempotent. */
  giveUp(): void {
    this.opened?.close();
    this.opened = undefined;
  }

  private async performed(requests: readonly NetlinkRequest[]): Promise<readonly KernelReply[]> {
    const { socket, writer } = this;
    writer.length = 0;
    const sequences = requests.map((request) => this.write(request, NLM_F_ACK));
    await socket.send(writer.bytes, writer.length);
    const replies = new Map(socket.collectReplies().replies.map((reply) => [reply.sequence, reply]));
    return sequences.map((sequence, position) => {
      const reply = replies.get(sequence);
      const { attempt } = requests[position]!;
      if (!reply) throw new NetlinkProtocolError(`none to ${attempt}`);
      if (reply.errno === EPERM) throw new NetlinkPermissionError(attempt);
      return reply;
    });
  }

  private write(request: NetlinkRequest, answer: number): number {
    const sequence = this.nextSequence;
    this.nextSequence = sequence + 1;
    writeRequest(this.writer, request, answer, sequence);
    return sequence;
  }
}

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
 * Whether a request succeeded; false at one of the error numbers that the caller handles.
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
