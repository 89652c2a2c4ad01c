import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Life } from './life.js';

/** Something that will happen, unless it is canceled. */
export interface Planned {
  readonly at: number;
  cancel(): void;
}

interface Event extends Planned {
  readonly run: () => void;
  readonly owner: Life;
  isCanceled: boolean;
}

/**
 * The time of a simulated world, in milliseconds since the epoch. It stands still while something happens and jumps to the next
 * event. Events of one moment happen in the order in which they were planned. Between two events all promises that can settle
 * have settled, so that what happens follows from the seed.
 */
export class Scheduler {
  /** Sorted; the next one is the last. */
  private readonly events: Event[] = [];
  /** How many events have happened. */
  turns = 0;

  /** @param owner who acts now: what is planned meanwhile is planned by it, and will not happen once it has ended */
  constructor(
    public now: number,
    public owner: Life,
  ) {}

  after(milliseconds: number, run: () => void, owner: Life = this.owner): Planned {
    const at = this.now + (milliseconds > 0 ? milliseconds : 0);
    const event: Event = {
      at,
      run,
      owner,
      isCanceled: false,
      cancel: () => {
        event.isCanceled = true;
      },
    };
    let low = 0;
    let high = this.events.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.events[middle]!.at > at) low = middle + 1;
      else high = middle;
    }
    this.events.splice(low, 0, event);
    return event;
  }

  /** When the events of an owner that are still to come happen, the next one last. */
  pendingOf(owner: Life): readonly number[] {
    return this.events.filter((event) => event.owner === owner && !event.isCanceled).map(({ at }) => at);
  }

  /** Does something on behalf of somebody else. */
  as<T>(owner: Life, run: () => T): T {
    const before = this.owner;
    this.owner = owner;
    try {
      return run();
    } finally {
      this.owner = before;
    }
  }

  /**
   * Lets everything happen that is planned up to this moment, and what follows from it.
   * @param isEnough asked after each event: whether to stop before
   */
  async runUntil(end: number, isEnough: () => boolean = () => false): Promise<void> {
    const idle = this.owner;
    await nextTurn();
    for (;;) {
      if (isEnough()) break;
      const event = this.events.at(-1);
      if (!event || event.at > end) {
        this.now = Math.max(this.now, end);
        break;
      }
      this.events.pop();
      if (event.isCanceled || !event.owner.isAlive) continue;
      this.now = Math.max(this.now, event.at);
      this.turns++;
      this.owner = event.owner;
      event.run();
      await nextTurn();
    }
    this.owner = idle;
  }
}
