import { setImmediate as breathe } from 'node:timers/promises';
import { EPERM } from './errno.js';
import {
  NetlinkClosedError,
  NetlinkPermissionError,
  NetlinkProtocolError,
  NetlinkRequestError,
} from './errors.js';
import type { KernelReply, NetlinkMessage } from './message-reader.js';
import { MessageWriter } from './message-writer.js';
import type { NetlinkSocket } from './netlink-socket.js';
import { NLM_F_ACK, NLM_F_DUMP, NLM_F_REQUEST } from './protocol.js';

/** Sequence numbers have 32 bits; long before, they start over. */
const MAX_SEQUENCE = 0x8000_0000;
/** Requests sent at once: well below what the receive buffer holds in answers. */
const AT_ONCE = 256;

/** One request, without what stands in every message. */
export interface NetlinkRequest {
  readonly type: number;
  /** Besides those that say that it is a request, and that it is to be answered. */
  readonly flags?: number;
  /** For errors: what is tried, on what. */
  readonly attempt: string;
  /** Writes the family's own header and the attributes. */
  put(writer: MessageWriter): void;
}

/**
 * Requests and their answers over a netlink socket of its own, in the network namespace of this process. Calls are
 * carried out one after the other. A socket on which something unforeseen happened is given up, since answers may still
 * wait in it; the next call opens another. Every call rejects with a NetlinkError when the kernel cannot be reached, and
 * with NetlinkPermissionError when it refuses this process.
 */
export class NetlinkChannel {
  private readonly writer = new MessageWriter();
  private socket: NetlinkSocket | undefined;
  private sequence = 0;
  private last: Promise<unknown> = Promise.resolve();
  private closed = false;

  constructor(private readonly openSocket: () => NetlinkSocket) {}

  /** Asks for one thing; `onAnswer` gets the message that carries it. The error number, 0 when there is none. */
  ask(request: NetlinkRequest, onAnswer: (message: NetlinkMessage) => void): Promise<KernelReply> {
    return this.exclusively((socket) => this.answered(socket, request, 0, onAnswer));
  }

  /**
   * Asks for everything of a kind; `onEntry` gets each message. Rejects with NetlinkRequestError when the kernel refuses;
   * answers whether what was dumped stayed as it was meanwhile.
   */
  dump(
    request: NetlinkRequest,
    onEntry: (message: NetlinkMessage) => void,
  ): Promise<{ readonly interrupted: boolean }> {
    return this.exclusively(async (socket) => {
      const { errno, explanation, interrupted } = await this.answered(socket, request, NLM_F_DUMP, onEntry);
      if (errno !== 0) throw new NetlinkRequestError(request.attempt, errno, explanation);
      return { interrupted: interrupted ?? false };
    });
  }

  /**
   * Carries out requests in their order, many with one call; one that is refused does not stop the others. Now and then
   * others have their turn.
   */
  perform(requests: readonly NetlinkRequest[]): Promise<readonly KernelReply[]> {
    return this.exclusively(async (socket) => {
      const replies: KernelReply[] = [];
      for (let from = 0; from < requests.length; from += AT_ONCE) {
        if (from > 0) await breathe();
        replies.push(...(await this.performed(socket, requests.slice(from, from + AT_ONCE))));
      }
      return replies;
    });
  }

  /** Idempotent; later calls fail. */
  close(): void {
    this.closed = true;
    void this.last.then(() => this.giveUp());
  }

  private async answered(
    socket: NetlinkSocket,
    request: NetlinkRequest,
    flags: number,
    onMessage: (message: NetlinkMessage) => void,
  ): Promise<KernelReply> {
    this.writer.length = 0;
    const sequence = this.write(request, flags);
    await socket.send(this.writer.bytes, this.writer.length);
    const reply = await socket.receiveAnswer(sequence, flags === 0, onMessage);
    if (reply.errno === EPERM) throw new NetlinkPermissionError(request.attempt);
    return reply;
  }

  private async performed(
    socket: NetlinkSocket,
    requests: readonly NetlinkRequest[],
  ): Promise<readonly KernelReply[]> {
    this.writer.length = 0;
    const sequences = requests.map((request) => this.write(request, NLM_F_ACK));
    await socket.send(this.writer.bytes, this.writer.length);
    const replies = new Map(socket.collectReplies().replies.map((reply) => [reply.sequence, reply]));
    return sequences.map((sequence, position) => {
      const reply = replies.get(sequence);
      const { attempt } = requests[position]!;
      if (!reply) throw new NetlinkProtocolError(`none to ${attempt}`);
      if (reply.errno === EPERM) throw new NetlinkPermissionError(attempt);
      return reply;
    });
  }

  private write({ type, flags = 0, put }: NetlinkRequest, more: number): number {
    if (this.sequence >= MAX_SEQUENCE) this.sequence = 0;
    const sequence = ++this.sequence;
    const start = this.writer.beginMessage(type, NLM_F_REQUEST | flags | more, sequence);
    put(this.writer);
    this.writer.endMessage(start);
    return sequence;
  }

  /** Waits for the calls before, whatever became of them. */
  private exclusively<T>(call: (socket: NetlinkSocket) => Promise<T>): Promise<T> {
    if (this.closed) return Promise.reject(new NetlinkClosedError());
    const turn = this.last.then(async () => {
      const socket = (this.socket ??= this.openSocket());
      try {
        return await call(socket);
      } catch (error) {
        if (!(error instanceof NetlinkRequestError)) this.giveUp();
        throw error;
      }
    });
    this.last = turn.catch(() => undefined);
    return turn;
  }

  private giveUp(): void {
    this.socket?.close();
    this.socket = undefined;
  }
}
