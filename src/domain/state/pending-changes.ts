import type { ServiceKey } from '../model/service-port-name.js';

/** So many causes of changes are kept while nothing can be programmed, the oldest ones. */
const MOST_EARLIER_TRIGGERS = 10_000;

/** What one family has to look at again, collected between two syncs. */
export class PendingChanges {
  private services = new Set<ServiceKey>();
  private triggers = new Map<ServiceKey, number[]>();
  private earlierTriggers: readonly number[] = [];
  /** Something that concerns all Services or the node changed. */
  private everything = false;
  private node = false;

  get empty(): boolean {
    return this.services.size === 0 && !this.everything && !this.node;
  }

  get serviceCount(): number {
    return this.services.size;
  }

  /** Whether the next sync looks at the Service. */
  includes(service: ServiceKey): boolean {
    return this.everything || this.services.has(service);
  }

  serviceChanged(service: ServiceKey): void {
    this.services.add(service);
  }

  /** A slice change with the time of its cause, for the network programming latency (docs/spec/model.md §8). */
  triggered(service: ServiceKey, time: number): void {
    const times = this.triggers.get(service);
    if (times) times.push(time);
    else this.triggers.set(service, [time]);
  }

  /** The causes of changes that a failed sync has taken: it is the next one that programs them. */
  triggeredEarlier(times: readonly number[]): void {
    this.earlierTriggers = times.slice(0, MOST_EARLIER_TRIGGERS);
  }

  /** A slice went; times waiting for its Service say nothing any more. */
  forgetTriggers(service: ServiceKey): void {
    this.triggers.delete(service);
  }

  /** Topology changed: every Service must be looked at again. */
  everyServiceChanged(): void {
    this.everything = true;
  }

  /** The node's own rules changed: its addresses, service ranges. */
  nodeChanged(): void {
    this.node = true;
  }

  /** Hands over what has been collected and starts anew. */
  take(): TakenChanges {
    const taken = {
      services: this.services,
      everyService: this.everything,
      node: this.node,
      triggerTimes: [...this.earlierTriggers, ...[...this.triggers.values()].flat()],
    };
    this.services = new Set();
    this.triggers = new Map();
    this.earlierTriggers = [];
    this.everything = false;
    this.node = false;
    return taken;
  }
}

export interface TakenChanges {
  readonly services: ReadonlySet<ServiceKey>;
  readonly everyService: boolean;
  readonly node: boolean;
  /** Milliseconds since the epoch. */
  readonly triggerTimes: readonly number[];
}
