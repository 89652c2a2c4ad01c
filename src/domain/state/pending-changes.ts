import { append } from '../model/maps.js';
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

  /** A slice changed; the time is that of its cause, for the network programming latency (docs/internals/spec/model.md §8). */
  triggered(service: ServiceKey, time: number): void {
    append(this.triggers, service, time);
  }

  /** The times of changes that a failed sync had dequeued: the next sync programs them. */
  triggeredEarlier(times: readonly number[]): void {
    this.earlierTriggers = times.slice(0, MOST_EARLIER_TRIGGERS);
  }

  /** Takes back the times of Services of which a sync has left something to the next one. Returns the others. */
  leave(dequeued: DequeuedChanges, isLeft: (service: ServiceKey) => boolean): TriggerTimes {
    const left = [...dequeued.triggers].filter(([service]) => isLeft(service));
    if (left.length === 0) return dequeued;
    const triggers = new Map(dequeued.triggers);
    for (const [service, times] of left) {
      triggers.delete(service);
      this.triggers.set(service, [...times, ...(this.triggers.get(service) ?? [])]);
    }
    const earlier = dequeued.triggerTimes.slice(
      0,
      dequeued.triggerTimes.length - timesOf(dequeued.triggers).length,
    );
    return { triggers, triggerTimes: [...earlier, ...timesOf(triggers)] };
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
      triggerTimes: [...this.earlierTriggers, ...timesOf(this.triggers)],
    };
    this.services = new Set();
    this.triggers = new Map();
    this.earlierTriggers = [];
    this.everything = false;
    this.node = false;
    return dequeued;
  }
}

function timesOf(triggers: TriggerTimes['triggers']): readonly number[] {
  return [...triggers.values()].flat();
}

/** The changes that one sync processes. */
export interface DequeuedChanges extends TriggerTimes {
  readonly services: ReadonlySet<ServiceKey>;
  readonly everyService: boolean;
  readonly node: boolean;
}

/** When changes were caused. */
interface TriggerTimes {
  /** For each Service of which a slice changed: when that was caused. Milliseconds since the epoch. */
  readonly triggers: ReadonlyMap<ServiceKey, readonly number[]>;
  /** All of these, and those of changes that a failed sync had dequeued. */
  readonly triggerTimes: readonly number[];
}
