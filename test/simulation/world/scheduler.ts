import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Life } from './life.js';

/** Something that will happen, unless it is canceled. */
export interface Planned {
  readonly at: number;
  cancel(): void;
}

class Event implements Planned {
  isCanceled = false;

  constructor(
    readonly at: number,
    readonly run: () => void,
    readonly owner: Life,
  ) {}

  cancel(): void {
    this.isCanceled = true;
  }
}

/** Thrown by an event after which its owner does nothing any more. */
export class Ended extends Error {
  override readonly name: string = 'Ended';
}

/**
 * The time of a simulated world, in milliseconds since the epoch. It stands still while something happens and jumps to the next
 * event. Events of one moment happen in the order in which they were planned. Between two events all promises that can settle
 * have settled, so that what happens follows from the seed.
 */
export class Scheduler {
  /** The next one is the last. */
  private readonly events: Event[] = [];
  /** How many events have happened. */
  turns = 0;
  /** Called before each of them with its owner, who may end by it. */
  beforeTurn: (owner: Life) => void = () => undefined;

  /** @param owner who acts now: what is planned meanwhile is planned by it, and will not happen once it has ended */
  constructor(
    public now: number,
    public owner: Life,
  ) {}

  after(milliseconds: number, run: () => void, owner: Life = this.owner): Planned {
    const event = new Event(this.now + (milliseconds > 0 ? milliseconds : 0), run, owner);
    if (!owner.isAlive) return event;
    let place = this.events.length;
    while (place > 0 && this.events[place - 1]!.at <= event.at) place--;
    this.events.splice(place, 0, event);
    return event;
  }

  /** When the events of an owner that are still to come happen. */
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

  /** Ends somebody, and lets what this leads to come to nothing, so that it is no part of another world. */
  async end(life: Life): Promise<void> {
    this.owner = life;
    life.end();
    await nextTurn();
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
      this.beforeTurn(event.owner);
      if (!event.owner.isAlive) continue;
      this.turns++;
      this.owner = event.owner;
      perform(event);
      await nextTurn();
    }
    this.owner = idle;
  }
}

function perform({ run, owner }: Event): void {
  try {
    run();
  } catch (error) {
    // The calls of a process that was killed in one of them fail, and nobody handles that.
    if (owner.isAlive && !(error instanceof Ended)) throw error;
  }
}
