import type { TrafficTotals } from './endpoint-traffic.js';
import type { TrafficSnapshot, TrafficState } from './traffic-snapshot.js';

/** In place of names, for all service ports without series of their own. */
const OTHER = 'other';

/** The traffic of one port of a Service, of both families and all protocols, as metrics show it. */
export interface SeriesValues extends TrafficState {
  readonly labels: { readonly namespace: string; readonly service: string; readonly port: string };
}

/**
 * Chooses which service ports have series of their own: the first that had traffic, as many as allowed, until they are gone.
 * All others are summed, and what they were stays in the sum, so that no total falls but by a new start of its service port.
 */
export class TrafficSeries {
  private readonly own = new Set<string>();
  private readonly others = new Map<string, TrafficTotals>();
  private otherTotals: TrafficTotals = { connections: 0, failed: 0, bytes: 0 };

  constructor(private readonly limit: number) {}

  /** Whether some service ports have no series of their own. */
  get isFull(): boolean {
    return this.others.size > 0;
  }

  /** The values as of a snapshot. To be called with each in turn. */
  of(snapshot: TrafficSnapshot): readonly SeriesValues[] {
    const byPort = valuesByPort(snapshot);
    for (const key of this.own) if (!byPort.has(key)) this.own.delete(key);
    for (const key of this.others.keys()) if (!byPort.has(key)) this.others.delete(key);
    const shown: SeriesValues[] = [];
    let [open, overdue] = [0, 0];
    for (const [key, values] of byPort) {
      if (this.hasOwn(key)) {
        shown.push(values);
        continue;
      }
      this.addToOther(key, values);
      open += values.open;
      overdue += values.overdue;
    }
    if (!this.isFull && this.otherTotals.connections === 0) return shown;
    const labels = { namespace: OTHER, service: OTHER, port: OTHER };
    return [...shown, { labels, ...this.otherTotals, open, overdue }];
  }

  private hasOwn(key: string): boolean {
    if (this.own.has(key)) return true;
    if (this.others.has(key) || this.own.size >= this.limit) return false;
    this.own.add(key);
    return true;
  }

  private addToOther(key: string, { connections, failed, bytes }: TrafficTotals): void {
    const before = this.others.get(key);
    this.others.set(key, { connections, failed, bytes });
    const more = (now: number, then = 0): number => Math.max(0, now - then);
    this.otherTotals = {
      connections: this.otherTotals.connections + more(connections, before?.connections),
      failed: this.otherTotals.failed + more(failed, before?.failed),
      bytes: this.otherTotals.bytes + more(bytes, before?.bytes),
    };
  }
}

function valuesByPort({ ports }: TrafficSnapshot): ReadonlyMap<string, SeriesValues> {
  const byPort = new Map<string, SeriesValues>();
  for (const { entry, connections, failed, bytes, open, overdue } of ports.values()) {
    const { namespace, name: service, port } = entry.name;
    const key = `${namespace}/${service}/${port}`;
    const labels = { namespace, service, port };
    byPort.set(key, sum({ labels, connections, failed, bytes, open, overdue }, byPort.get(key)));
  }
  return byPort;
}

function sum(one: SeriesValues, other: SeriesValues | undefined): SeriesValues {
  if (!other) return one;
  return {
    labels: one.labels,
    connections: one.connections + other.connections,
    failed: one.failed + other.failed,
    bytes: one.bytes + other.bytes,
    open: one.open + other.open,
    overdue: one.overdue + other.overdue,
  };
}
