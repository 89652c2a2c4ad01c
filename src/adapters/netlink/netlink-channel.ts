import { NetlinkClosedError, NetlinkRequestError } from './errors.js';
import type { KernelReply, NetlinkMessage } from './message-reader.js';
import { NetlinkConversation } from './netlink-conversation.js';
import type { NetlinkRequest } from './netlink-request.js';
import type { NetlinkSocket } from './netlink-socket.js';

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

  /** Requests one object; `onAnswer` gets the message that carries it. Resolves with the error number, 0 if there is none. */
  ask(request: NetlinkRequest, onAnswer: (message: NetlinkMessage) => void): Promise<KernelReply> {
    return this.runExclusive((conversation) => conversation.ask(request, onAnswer));
  }

  /**
   * Requests all objects of a kind; `onEntry` gets each message. Rejects with NetlinkRequestError if the kernel
   * refuses; `interrupted` means that the objects changed meanwhile.
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
