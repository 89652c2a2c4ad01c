import { ApiProtocolError } from '../client/api-error.js';
import type { ResponseBody } from '../client/response-body.js';
import type { RawEvent, WatchDecoder } from '../encoding/encoding.js';
import { checkEvent, type WatchEvent } from './watch-event.js';

export interface WatchRequest {
  /** The resourceVersion after which events are sent; with initial events, the least that they must show. */
  readonly from: string;
  /** Begins with an event for each object, up to a bookmark. */
  readonly initialEvents?: boolean;
  /** Milliseconds after which the server ends the watch; whole seconds reach it, at least one. */
  readonly lifetime: number;
  /** Milliseconds without any data after which the watch is given up. */
  readonly silence: number;
  readonly signal: AbortSignal;
  /** Something arrived. */
  readonly onActivity: () => void;
}

/** An open watch. Events are passed on as soon as they have arrived. */
export class OpenWatch {
  constructor(
    private readonly body: ResponseBody,
    private readonly decoder: WatchDecoder,
    /** Names the watch in errors. */
    private readonly name: string,
    private readonly request: Pick<WatchRequest, 'silence' | 'onActivity'>,
  ) {}

  /**
   * Passes on the events, in order, up to one for which `take` returns true; the next call goes on after it. Resolves with false at
   * the end of the watch. What `take` throws ends it, and so does what the connection or the decoder throws.
   */
  async read(take: (event: WatchEvent) => boolean): Promise<boolean> {
    try {
      if (this.passOn(take)) return true;
      const { silence, onActivity } = this.request;
      return await this.body.read(silence, (piece) => {
        onActivity();
        this.decoder.push(piece);
        return this.passOn(take);
      });
    } catch (error) {
      this.close();
      throw error;
    }
  }

  /** Idempotent. */
  close(): void {
    this.body.close();
  }

  private passOn(take: (event: WatchEvent) => boolean): boolean {
    for (let event = this.decode(); event; event = this.decode())
      if (take(checkEvent(event, this.name))) return true;
    return false;
  }

  private decode(): RawEvent | undefined {
    try {
      return this.decoder.next();
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      const problem = `an event is unreadable: ${error.message}`;
      throw new ApiProtocolError(this.name, problem, { cause: error });
    }
  }
}
