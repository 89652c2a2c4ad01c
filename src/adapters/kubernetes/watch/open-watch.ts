import type { WatchEvent } from './watch-event.js';

/** An open watch. The events that one piece of the response completes are passed on without waiting in between. */
export class OpenWatch {
  /** What is left of the last piece. */
  private piece: Iterator<WatchEvent> | undefined;

  /** @param pieces in order; each is passed on to its end before the next is asked for */
  constructor(private readonly pieces: AsyncGenerator<Iterator<WatchEvent>>) {}

  /**
   * Passes on the events, in order, up to one for which `take` returns true; the next call goes on after it. Returns false at the
   * end of the watch. What the pieces or `take` throw ends it.
   */
  async read(take: (event: WatchEvent) => boolean): Promise<boolean> {
    try {
      for (;;) {
        if (this.piece && takesOf(this.piece, take)) return true;
        const { done, value } = await this.pieces.next();
        if (done) return false;
        this.piece = value;
      }
    } catch (error) {
      await this.close();
      throw error;
    }
  }

  /** Idempotent. */
  async close(): Promise<void> {
    await this.pieces.return(undefined);
  }
}

function takesOf(piece: Iterator<WatchEvent>, take: (event: WatchEvent) => boolean): boolean {
  for (let next = piece.next(); !next.done; next = piece.next()) if (take(next.value)) return true;
  return false;
}
