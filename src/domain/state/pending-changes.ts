import type { ServiceKey } from '../model/service-port-name.js';

/** How many times of changes are kept while nothing is programmed, the oldest first. */
const MOST_EARLIER_TRIGGERS = 10_000;

/** The changes that the next sync of one family must process. */
export class PendingChanges {
  private services = new Set<ServiceKey>();
  private triggers = new Map<ServiceKey, number[]>();
  private earlierTriggers: readonly number[] = [];
  /** All Services must be processed again. */
  private everything = false;
  private node = false;

  get empty(): boolean {
    return this.services.size === 0 && !this.everything && !this.node;
  }

  get serviceCount(): number {
    return this.services.size;
  }

  /** Whether the next sync processes the Service. */
  includes(service: ServiceKey): boolean {
    return this.everything || this.services.has(service);
  }

  serviceChanged(service: ServiceKey): void {
    this.services.add(service);
  }

  /** A slice changed; the time is that of its cause, for the network programming latency (docs/spec/model.md §8). */
  triggered(service: ServiceKey, time: number): void {
    const times = this.triggers.get(service);
    if (times) times.push(time);
    else this.triggers.set(service, [time]);
  }

  /** The times of changes that a failed sync had dequeued: the next sync programs them. */
  triggeredEarlier(times: readonly number[]): void {
    this.earlierTriggers = times.slice(0, MOST_EARLIER_TRIGGERS);
  }

  /** A slice was removed; the times noted for its Service no longer apply. */
  forgetTriggers(service: ServiceKey): void {
    this.triggers.delete(service);
  }

  /** The topology changed: every Service must be processed again. */
  everyServiceChanged(): void {
    this.everything = true;
  }

  /** The node's own rules changed: its addresses, service ranges. */
  nodeChanged(): void {
    this.node = true;
  }

  /** Returns what has been collected, and starts over. */
  dequeue(): DequeuedChanges {
    const dequeued = {
      services: this.services,
      everyService: this.everything,
      node: this.node,
      triggers: this.triggers,
      triggerTimes: [...this.earlierTriggers, ...[...this.triggers.values()].flat()],
    };
    this.services = new Set();
    this.triggers = new Map();
    this.earlierTriggers = [];
    this.everything = false;
    this.node = false;
    return dequeued;
  }
}

/** The changes that one sync processes. */
export interface DequeuedChanges {
  readonly services: ReadonlySet<ServiceKey>;
  readonly everyService: boolean;
  readonly node: boolean;
  /** For each Service of which a slice changed: when that was caused. Milliseconds since the epoch. */
  readonly triggers: ReadonlyMap<ServiceKey, readonly number[]>;
  /** All of these, and those of changes that a failed sync had dequeued. */
  readonly triggerTimes: readonly number[];
}
