import { NetlinkClosedError, NetlinkRequestError } from './errors.js';
import type { KernelReply, NetlinkMessage } from './message-reader.js';
import { NetlinkConversation } from './netlink-conversation.js';
import type { NetlinkRequest } from './netlink-request.js';
import type { NetlinkSocket } from './netlink-socket.js';

/**
 * A conversation with the kernel over a socket of its own, in the network namespace of this process. Calls are carried out
 * one after the other. A socket on which something unforeseen happened is given up, since answers may still wait in it; the
 * next call opens another. Every call rejects with a NetlinkError when the kernel cannot be reached, and with
 * NetlinkPermissionError when it refuses this process.
 */
export class NetlinkChannel {
  private readonly conversation: NetlinkConversation;
  private last: Promise<unknown> = Promise.resolve();
  private closed = false;

  /** @param isAnswer whether an error is one that the kernel answered, so that nothing more waits to be read */
  constructor(
    openSocket: () => NetlinkSocket,
    private readonly isAnswer: (error: unknown) => boolean = (error) => error instanceof NetlinkRequestError,
  ) {
    this.conversation = new NetlinkConversation(openSocket);
  }

  /** Opens the socket now rather than with the first call. Throws a NetlinkError when there is no netlink. */
  open(): void {
    void this.conversation.socket;
  }

  /** Asks for one thing; `onAnswer` gets the message that carries it. The error number, 0 when there is none. */
  ask(request: NetlinkRequest, onAnswer: (message: NetlinkMessage) => void): Promise<KernelReply> {
    return this.runExclusive((conversation) => conversation.ask(request, onAnswer));
  }

  /**
   * Asks for everything of a kind; `onEntry` gets each message. Rejects with NetlinkRequestError when the kernel refuses;
   * answers whether what was dumped stayed as it was meanwhile.
   */
  dump(
    request: NetlinkRequest,
    onEntry: (message: NetlinkMessage) => void,
  ): Promise<{ readonly interrupted: boolean }> {
    return this.runExclusive(async (conversation) => {
      const { errno, explanation, interrupted } = await conversation.dump(request, onEntry);
      if (errno !== 0) throw new NetlinkRequestError(request.attempt, errno, explanation);
      return { interrupted: interrupted ?? false };
    });
  }

  /**
   * Carries out requests in their order, many with one call; one that is refused does not stop the others. Now and then
   * others have their turn.
   */
  perform(requests: readonly NetlinkRequest[]): Promise<readonly KernelReply[]> {
    return this.runExclusive((conversation) => conversation.perform(requests));
  }

  /** Waits for the calls before, whatever became of them, and keeps others waiting until the call is done. */
  runExclusive<T>(call: (conversation: NetlinkConversation) => Promise<T>): Promise<T> {
    if (this.closed) return Promise.reject(new NetlinkClosedError());
    const turn = this.last.then(async () => {
      this.open();
      try {
        return await call(this.conversation);
      } catch (error) {
        if (!this.isAnswer(error)) this.conversation.giveUp();
        throw error;
      }
    });
    this.last = turn.catch(() => undefined);
    return turn;
  }

  /** Idempotent; later calls fail. Resolves when those before have ended. */
  async close(): Promise<void> {
    this.closed = true;
    await this.last;
    this.conversation.giveUp();
  }
}
