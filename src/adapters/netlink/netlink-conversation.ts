import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { EPERM } from './errno.js';
import { NetlinkPermissionError, NetlinkProtocolError } from './errors.js';
import type { KernelReply, NetlinkMessage } from './message-reader.js';
import { MessageWriter } from './message-writer.js';
import { writeRequest, type NetlinkRequest } from './netlink-request.js';
import type { NetlinkSocket } from './netlink-socket.js';
import { NLM_F_ACK, type NLM_F_DUMP } from './protocol.js';

/** Sequence numbers have 32 bits; they start over long before the end. */
const MAX_SEQUENCE = 0x8000_0000;
/** Requests sent at once: their answers take far less than the receive buffer. */
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
   * Requests something, and returns a refusal to the caller.
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
   * Requests something and reads the answer at once, without yielding to the event loop, so it must be short.
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
