import { slotShares } from '../../domain/balancing/slots.js';
import { endpointPlace, type Endpoint } from '../../domain/model/endpoint.js';
import { ejectedOf } from '../../domain/select-endpoints.js';
import { fields, list, number, optional, word, type Checked } from '../../domain/shape.js';
import { flag, text, time } from '../../domain/shape.js';
import { countingFacts, type CountingFacts } from '../../domain/traffic/sample.js';
import { family, protocol } from '../../domain/shape.js';
import type { ForwardingEntry } from '../../domain/forwarding/forwarding-entry.js';
import { roundedSeconds, timeText } from '../../domain/model/text.js';
import type { TrafficTotals } from '../../domain/traffic/endpoint-traffic.js';
import { familyPortKey } from '../../domain/traffic/service-frontends.js';
import type {
  EndpointSnapshot,
  PortSnapshot,
  TrafficSnapshot,
  TrafficState,
} from '../../domain/traffic/traffic-snapshot.js';

/** What lists of traffic can be sorted by, the most first. */
export const TRAFFIC_ORDERS = ['open', 'new', 'unanswered', 'bytes'] as const;

export type TrafficOrder = (typeof TRAFFIC_ORDERS)[number];

/** The requested service ports and their order. */
export interface TrafficQuery {
  /** Missing: of all namespaces. */
  readonly namespace?: string;
  /** Services as `name` or `namespace/name`, shown even without traffic; none: all that have had any. */
  readonly services: readonly string[];
  readonly sort: TrafficOrder;
  /** The most service ports to report. */
  readonly limit: number;
}

/** The connections of an interval. */
export type TrafficNumbers = Checked<typeof numbers>;
const numbers = {
  /** At its end: begun, and not closed. */
  openConnections: number,
  /** Begun in it. */
  newConnections: number,
  newConnectionsPerSecond: number,
  /** Without an answer: waiting for more than a second at its end, or ended in it without one. */
  unansweredConnections: number,
  /** In both directions; missing if the kernel does not count them. */
  bytes: optional(number),
  bytesPerSecond: optional(number),
};

/**
 * How the proxy uses an endpoint: as ready; as terminating, while no other is left; not for a while, because it is ejected; not
 * at all, or no longer.
 */
export type EndpointUse = 'ready' | 'terminating' | 'ejected' | 'unused';

export type EndpointReport = ReturnType<typeof endpointReport>;
const endpointReport = fields({
  ...numbers,
  address: text,
  port: number,
  /** As in `Endpoint`. */
  pod: optional(text),
  nodeName: optional(text),
  zone: optional(text),
  state: word<EndpointUse>(),
  /** Its part of new connections, from 0 to 1, where open connections count. */
  shareRatio: optional(number),
  /** It is ready, and the last connections to it, three or more, got no answer; or it is ejected for that. */
  unresponsive: flag,
});

export type PortReport = ReturnType<typeof portReport>;
const portReport = fields({
  ...numbers,
  namespace: text,
  name: text,
  portName: text,
  protocol,
  family,
  /** How many of the endpoints are unresponsive. */
  unresponsiveEndpoints: number,
  endpoints: list(endpointReport),
});

/** The traffic of an interval: a line of the answer to `/debug/traffic`. */
export type TrafficReport = ReturnType<typeof trafficAnswer>;
export const trafficAnswer = fields({
  ...countingFacts,
  /** Its end. */
  time,
  /** Its length. */
  durationSeconds: number,
  services: list(portReport),
  /** Service ports left out because of the limit. */
  omitted: number,
});

/** How the endpoints are used that any frontend may reach, or might if they were not ejected: by `ip:port`. */
function endpointUses({
  endpoints: selection,
  balancing,
}: ForwardingEntry): ReadonlyMap<string, UsedEndpoint> {
  const list = selection.cluster ?? selection.local ?? [];
  const shares = new Map(
    balancing?.method === 'least-connections'
      ? slotShares(list, balancing).map(({ slots, totalSlots }, place) => [list[place], slots / totalSlots])
      : [],
  );
  const used = (one: Endpoint, state: EndpointUse): [string, UsedEndpoint] => {
    const { pod, nodeName, zone } = one;
    const shareRatio = shares.get(one);
    return [
      endpointPlace(one),
      { pod, nodeName, zone, state, ...(shareRatio !== undefined && { shareRatio }) },
    ];
  };
  return new Map([
    ...ejectedOf(selection).map((one) => used(one, 'ejected')),
    ...selection.reachable.map((one) => used(one, one.ready ? 'ready' : 'terminating')),
  ]);
}

type UsedEndpoint = Pick<EndpointReport, 'pod' | 'nodeName' | 'zone' | 'state' | 'shareRatio'>;

const UNUSED: UsedEndpoint = { state: 'unused' };

const NOTHING: EndpointSnapshot = {
  connections: 0,
  failed: 0,
  bytes: 0,
  open: 0,
  overdue: 0,
  unresponsive: false,
};

/** A row that is not complete yet: its endpoints are only worked out if it is shown. */
interface Row {
  readonly entry: ForwardingEntry;
  readonly numbers: TrafficNumbers;
  readonly before: PortSnapshot | undefined;
  readonly after: PortSnapshot | undefined;
}

/**
 * The traffic between two snapshots.
 * @param entries all service ports, for those that are requested by name but have no traffic
 */
export function trafficBetween(
  before: TrafficSnapshot,
  after: TrafficSnapshot,
  query: TrafficQuery,
  facts: CountingFacts,
  entries: Iterable<ForwardingEntry>,
): TrafficReport {
  const seconds = (after.steady - before.steady) / 1_000;
  const numbersOf = measuring(seconds, facts.bytesCounted);
  const rows = concerned(after, query, entries).map((entry): Row => {
    const key = familyPortKey(entry);
    const [now, then] = [after.ports.get(key), before.ports.get(key)];
    return { entry, numbers: numbersOf(now ?? NOTHING, then ?? NOTHING), before: then, after: now };
  });
  rows.sort((a, b) => byMost(query.sort, a.numbers, b.numbers) || (a.entry.key < b.entry.key ? -1 : 1));
  const shown = rows.slice(0, query.limit);
  return {
    time: timeText(after.time),
    durationSeconds: roundedSeconds(seconds),
    ...facts,
    services: shown.map((row) => reportOfPort(row, query.sort, numbersOf)),
    omitted: rows.length - shown.length,
  };
}

function concerned(
  { ports }: TrafficSnapshot,
  { namespace, services }: TrafficQuery,
  entries: Iterable<ForwardingEntry>,
): readonly ForwardingEntry[] {
  const wanted = new Set(services);
  const candidates = wanted.size > 0 ? entries : Array.from(ports.values(), ({ entry }) => entry);
  return [...candidates].filter(
    ({ name }) =>
      (namespace === undefined || name.namespace === namespace) &&
      (wanted.size === 0 || wanted.has(name.name) || wanted.has(`${name.namespace}/${name.name}`)),
  );
}

type Measure = (after: TrafficState, before: TrafficTotals) => TrafficNumbers;

/** How numbers are made of what there was at the beginning and the end of the interval. */
function measuring(seconds: number, countsBytes: boolean): Measure {
  const perSecond = (amount: number): number => (seconds > 0 ? Math.round((amount / seconds) * 10) / 10 : 0);
  return (after, before) => {
    const begun = Math.max(0, after.connections - before.connections);
    const bytes = Math.max(0, after.bytes - before.bytes);
    return {
      openConnections: after.open,
      newConnections: begun,
      newConnectionsPerSecond: perSecond(begun),
      unansweredConnections: after.overdue + Math.max(0, after.failed - before.failed),
      ...(countsBytes && { bytes, bytesPerSecond: perSecond(bytes) }),
    };
  };
}

function reportOfPort(
  { entry, numbers, before, after }: Row,
  sort: TrafficOrder,
  measure: Measure,
): PortReport {
  const { namespace, name, port, protocol } = entry.name;
  const uses = endpointUses(entry);
  const texts = new Set([...uses.keys(), ...(after?.endpoints.keys() ?? [])]);
  const endpoints = Array.from(texts, (text): EndpointReport => {
    const now = after?.endpoints.get(text) ?? NOTHING;
    const used = uses.get(text) ?? UNUSED;
    return {
      ...addressAndPort(text),
      ...used,
      // UDP has no answer of its own.
      unresponsive:
        used.state === 'ejected' ||
        (now.unresponsive && used.state === 'ready' && entry.name.protocol !== 'UDP'),
      ...measure(now, before?.endpoints.get(text) ?? NOTHING),
    };
  });
  endpoints.sort((a, b) => byMost(sort, a, b));
  return {
    namespace,
    name,
    portName: port,
    protocol,
    family: entry.family,
    ...numbers,
    unresponsiveEndpoints: endpoints.filter(({ unresponsive }) => unresponsive).length,
    endpoints,
  };
}

const ORDERED_BY = {
  open: 'openConnections',
  new: 'newConnections',
  unanswered: 'unansweredConnections',
  bytes: 'bytes',
} as const satisfies Record<TrafficOrder, keyof TrafficNumbers>;

/** By the requested number, then by what changes least from one interval to the next. */
function byMost(order: TrafficOrder, a: TrafficNumbers, b: TrafficNumbers): number {
  return (
    (b[ORDERED_BY[order]] ?? 0) - (a[ORDERED_BY[order]] ?? 0) ||
    b.openConnections - a.openConnections ||
    b.newConnections - a.newConnections
  );
}

function addressAndPort(endpoint: string): { readonly address: string; readonly port: number } {
  const colon = endpoint.lastIndexOf(':');
  const address = endpoint.slice(0, colon).replace(/^\[|\]$/g, '');
  return { address, port: Number(endpoint.slice(colon + 1)) };
}
