import { errorMessage } from './error-message.js';
import type { Clock } from './ports/clock.js';
import type { Logger } from './ports/logger.js';

/** `atOnce` messages in a row, and one more after each `period`, in milliseconds. */
interface Limit {
  readonly atOnce: number;
  readonly period: number;
}

const OF_OBJECT: Limit = { atOnce: 5, period: 60_000 };
const OF_NAMESPACE: Limit = { atOnce: 100, period: 6_000 };
const OF_ALL: Limit = { atOnce: 500, period: 1_000 };

/** How often the number of messages beyond the limits of a namespace and of all is logged, in milliseconds. */
const COUNTED_EVERY = 60_000;

/**
 * Limits the rate of messages about each object, about those of each namespace, and about all, so that
 * users who may write objects cannot flood the log or the API server's events.
 */
export class MessageRate {
  /** Messages that were not sent since the last one about the object that was. */
  private readonly suppressed = new Map<string, number>();
  private readonly objects = new Meter(OF_OBJECT);
  private readonly namespaces = new Meter(OF_NAMESPACE);
  private readonly all = new Meter(OF_ALL);
  private more = 0;
  private loggedAt = -Infinity;

  /** @param logger gets the number of messages beyond the limits of a namespace and of all, once a minute at most */
  constructor(
    private readonly clock: Pick<Clock, 'steady'>,
    private readonly logger?: Pick<Logger, 'warn'>,
  ) {}

  /**
   * Counts a message about an object, named `namespace/name` with or without its kind. Returns undefined if it may not be sent; otherwise
   * facts for the message: how many before it about the same object were not sent, if any.
   */
  admit(object: string): { readonly suppressed?: number } | undefined {
    const now = this.clock.steady();
    const namespace = object.split('/', 1)[0]!;
    const suppressed = this.suppressed.get(object) ?? 0;
    if (!this.objects.hasRoom(object, now)) {
      this.suppressed.set(object, suppressed + 1);
      return undefined;
    }
    const isAdmitted = this.namespaces.hasRoom(namespace, now) && this.all.hasRoom('', now);
    if (!isAdmitted) this.more++;
    this.logMore(now);
    if (!isAdmitted) return undefined;
    this.objects.count(object, now, (restored) => this.suppressed.delete(restored));
    this.namespaces.count(namespace, now);
    this.all.count('', now);
    this.suppressed.delete(object);
    return suppressed > 0 ? { suppressed } : {};
  }

  private logMore(now: number): void {
    const { more } = this;
    if (more === 0 || now - this.loggedAt < COUNTED_EVERY) return;
    this.loggedAt = now;
    this.more = 0;
    this.logger?.warn(
      { more },
      'more messages about other objects were not logged; `kubeproxy status` lists the problems',
    );
  }
}

/** A problem that may last: it is logged when it begins or changes; repetitions are for debugging. */
export class LastingProblem {
  private text: string | undefined;

  /** The level of the next message about it. */
  level<Level extends 'warn' | 'error'>(problem: unknown, level: Level): Level | 'debug' {
    const text = errorMessage(problem);
    if (text === this.text) return 'debug';
    this.text = text;
    return level;
  }

  /** The next one is news again. */
  end(): void {
    this.text = undefined;
  }
}

/** Above this number, names whose limit is fully restored are forgotten. The limit of all messages bounds the others. */
const MOST_KNOWN = 1_000;

/** Counts messages by name. A name is stored with the time at which its limit is fully restored. */
class Meter {
  private readonly restoredAt = new Map<string, number>();

  constructor(private readonly limit: Limit) {}

  hasRoom(name: string, now: number): boolean {
    return this.next(name, now) - now <= this.limit.atOnce * this.limit.period;
  }

  count(name: string, now: number, forgotten: (name: string) => void = () => {}): void {
    this.restoredAt.set(name, this.next(name, now));
    if (this.restoredAt.size <= MOST_KNOWN) return;
    for (const [known, restoredAt] of this.restoredAt)
      if (restoredAt <= now) {
        this.restoredAt.delete(known);
        forgotten(known);
      }
  }

  private next(name: string, now: number): number {
    return Math.max(now, this.restoredAt.get(name) ?? 0) + this.limit.period;
  }
}
