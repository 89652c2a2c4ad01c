/** What a simulated API server does at a time. */
export interface Capacity {
  /** Lists that run at once. */
  readonly seats: number;
  /** Lists that wait; the others are refused. */
  readonly queue: number;
}

/** Seconds. */
const LONGEST_RETRY_AFTER = 32;

/**
 * The lists of a simulated API server under priority and fairness: so many run, so many wait in their order, the others are
 * refused. Its Retry-After begins with a second, doubles at most once in its own time while many are refused, and falls by
 * one in each second with few.
 */
export class ListQueue {
  /** When each seat is free again. Milliseconds. */
  private readonly free: number[];
  /** When the lists that wait will begin, in order. */
  private readonly begins: number[] = [];
  private retryAfter = 1;
  private raisedAt = -Infinity;
  private second = 0;
  /** Refusals in each of the last seconds, the newest last. */
  private readonly refusals: number[] = [0];

  constructor(private readonly capacity: Capacity) {
    this.free = Array.from({ length: capacity.seats }, () => 0);
  }

  /** Returns when a list will be finished that comes `now` and takes `work`, in milliseconds; undefined when it is refused. */
  admit(now: number, work: number): number | undefined {
    while (this.begins.length > 0 && this.begins[0]! <= now) this.begins.shift();
    const next = this.free.indexOf(Math.min(...this.free));
    const begin = Math.max(now, this.free[next]!);
    if (begin > now && this.begins.length >= this.capacity.queue) return undefined;
    if (begin > now) this.begins.push(begin);
    this.free[next] = begin + work;
    return begin + work;
  }

  /** Counts a refusal. Returns how many seconds it asks for. */
  refuse(now: number): number {
    for (const second = Math.floor(now / 1000); this.second < second; this.second++) this.nextSecond();
    this.refusals[this.refusals.length - 1]!++;
    return this.retryAfter;
  }

  private nextSecond(): void {
    const recent = this.refusals.slice(-this.retryAfter).reduce((sum, each) => sum + each, 0);
    this.refusals.push(0);
    if (this.refusals.length > LONGEST_RETRY_AFTER) this.refusals.shift();
    if (recent < this.retryAfter) this.retryAfter = Math.max(1, this.retryAfter - 1);
    else if (recent >= 3 * this.retryAfter && this.second - this.raisedAt >= this.retryAfter) {
      this.retryAfter = Math.min(LONGEST_RETRY_AFTER, 2 * this.retryAfter);
      this.raisedAt = this.second;
    }
  }
}
