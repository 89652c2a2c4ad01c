import { LIST_ATTEMPTS, NetlinkClosedError, NetlinkRequestError, NetlinkUnsteadyError } from './errors.js';
import type { KernelReply, NetlinkMessage } from './message-reader.js';
import { NetlinkConversation } from './netlink-conversation.js';
import { succeeded, type NetlinkRequest } from './netlink-request.js';
import type { NetlinkSocket } from './netlink-socket.js';
import { NLM_F_DUMP } from './protocol.js';

/**
 * Requests to the kernel over its own socket, in the network namespace of this process. Calls run one after the other.
 * After an unexpected error the socket is closed, since it may still contain answers; the next call opens another.
 * Every call rejects with a NetlinkError if the kernel cannot be reached, and with NetlinkPermissionError if it refuses
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

  /** Has a channel for as long as it is used. */
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
   * with NetlinkRequestError if the kernel refuses, or they change all the time.
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

  /** Waits for earlier calls, whatever their outcome, and makes later ones wait until the call is done. */
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
