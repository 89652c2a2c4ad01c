import type { ForwardingEntry } from '../forwarding/forwarding-entry.js';
import type { EndpointTraffic, TrafficTotals } from './endpoint-traffic.js';
import type { FamilyPortKey } from './service-frontends.js';
import type { TrafficTable } from './traffic-table.js';

/** The state at one time, in numbers of all connections. */
export interface TrafficState extends TrafficTotals {
  readonly open: number;
  /** Waiting for an answer for too long. */
  readonly overdue: number;
}

/** The numbers of one endpoint. */
export interface EndpointSnapshot extends TrafficState {
  readonly unresponsive: boolean;
}

/** The numbers of one service port, with all its endpoints. */
export interface PortSnapshot extends TrafficState {
  readonly entry: ForwardingEntry;
  /** By `ip:port`. */
  readonly endpoints: ReadonlyMap<string, EndpointSnapshot>;
}

/** When a snapshot was taken, in milliseconds. */
export interface Moment {
  /** Since the epoch. */
  readonly time: number;
  /** By a clock that is never set. */
  readonly steady: number;
}

/** The traffic of all service ports at a moment. Those without any so far are missing. */
export interface TrafficSnapshot extends Moment {
  readonly ports: ReadonlyMap<FamilyPortKey, PortSnapshot>;
}

/** @param entryOf the entry of a service port; undefined when it is gone, and then it is left out */
export function snapshotOf(
  table: TrafficTable,
  entryOf: (key: FamilyPortKey) => ForwardingEntry | undefined,
  moment: Moment,
): TrafficSnapshot {
  const weight = 2 ** table.shift;
  const ports = new Map<FamilyPortKey, PortSnapshot>();
  for (const [key, { totals, endpoints }] of table.ports()) {
    const entry = entryOf(key);
    if (!entry) continue;
    const shown = new Map<string, EndpointSnapshot>();
    let [open, overdue] = [0, 0];
    for (const [text, endpoint] of endpoints) {
      const snapshot = endpointSnapshot(endpoint, weight);
      shown.set(text, snapshot);
      open += snapshot.open;
      overdue += snapshot.overdue;
    }
    ports.set(key, { entry, ...copied(totals), open, overdue, endpoints: shown });
  }
  return { ...moment, ports };
}

function endpointSnapshot(
  { totals, open, overdue, unresponsive }: EndpointTraffic,
  weight: number,
): EndpointSnapshot {
  return { ...copied(totals), open: open * weight, overdue: overdue * weight, unresponsive };
}

function copied({ connections, failed, bytes }: TrafficTotals): TrafficTotals {
  return { connections, failed, bytes };
}
