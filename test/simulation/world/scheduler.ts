import { setImmediate as nextTurn } from 'node:timers/promises';

/** Something that will happen, unless it is canceled. */
export interface Planned {
  cancel(): void;
}

interface Event extends Planned {
  readonly at: number;
  readonly order: number;
  readonly run: () => void;
  readonly owner: object;
  isCanceled: boolean;
}

/**
 * The time of a simulated world, in milliseconds since the epoch. It stands still while something happens and jumps to the next
 * event. Events of one moment happen in the order in which they were planned. Between two events all promises that can settle
 * have settled, so that what runs is a function of the seed.
 */
export class Scheduler {
  /** Sorted, the next one last. */
  private readonly events: Event[] = [];
  private planned = 0;
  /** How many events have happened. */
  turns = 0;

  constructor(public now: number) {}

  /** @param owner whose event it is: a process that is killed takes its events along */
  after(milliseconds: number, run: () => void, owner: object): Planned {
    const at = this.now + Math.max(0, milliseconds);
    const event: Event = {
      at,
      order: this.planned++,
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

  /** How many events of an owner are still to come. */
  pendingOf(owner: object): number {
    return this.events.filter((event) => event.owner === owner && !event.isCanceled).length;
  }

  /** Nothing that this owner planned will happen. */
  forget(owner: object): void {
    for (const event of this.events) if (event.owner === owner) event.isCanceled = true;
  }

  /**
   * Lets everything happen that is planned up to this moment, and what follows from it.
   * @param isEnough asked after each event: whether to stop before
   */
  async runUntil(end: number, isEnough: () => boolean = () => false): Promise<void> {
    await nextTurn();
    for (;;) {
      if (isEnough()) return;
      const event = this.events.at(-1);
      if (!event || event.at > end) break;
      this.events.pop();
      if (event.isCanceled) continue;
      this.now = Math.max(this.now, event.at);
      this.turns++;
      event.run();
      await nextTurn();
    }
    this.now = Math.max(this.now, end);
  }
}
