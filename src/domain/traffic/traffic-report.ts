import { endpointPlace } from '../model/endpoint.js';
import { asideOf, type EndpointSelection } from '../selection/select-endpoints.js';
import { fields, flag, list, number, optional, text, time, word, type Checked } from '../shapes/shape.js';
import { family, protocol } from '../shapes/net-shapes.js';

/** What lists of traffic can be sorted by, the most first. */
export const TRAFFIC_ORDERS = ['open', 'new', 'unanswered', 'bytes'] as const;

export type TrafficOrder = (typeof TRAFFIC_ORDERS)[number];

/** Which service ports are asked for, and in which order. */
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
  open: number,
  /** Begun in it. */
  new: number,
  newPerSecond: number,
  /** Without an answer: waiting for more than a second at its end, or ended in it without one. */
  unanswered: number,
  /** In both directions; missing if the kernel does not count them. */
  bytes: optional(number),
  bytesPerSecond: optional(number),
};

/**
 * How the proxy uses an endpoint: as ready; as terminating, while no other is left; not for a while, because it is silent; not
 * at all, or no longer.
 */
export type EndpointUse = 'ready' | 'terminating' | 'aside' | 'unused';

export type EndpointReport = ReturnType<typeof endpointReport>;
const endpointReport = fields({
  ...numbers,
  address: text,
  port: number,
  state: word<EndpointUse>(),
  /** It is ready, and the last connections to it, three or more, got no answer. */
  silent: flag,
});

export type PortReport = ReturnType<typeof portReport>;
const portReport = fields({
  ...numbers,
  namespace: text,
  name: text,
  port: text,
  protocol,
  family,
  /** How many of the endpoints are silent. */
  silentEndpoints: number,
  endpoints: list(endpointReport),
});

/** How what is reported was counted. */
export type CountingFacts = Checked<typeof counting>;
const counting = {
  /** The first walk through the kernel's table is over. Until then connections are missing. */
  complete: flag,
  /** How much of that table the first walk has read: 0 to 1. */
  readShare: number,
  /** One in so many connections was counted, and the numbers multiplied; 1 for all. */
  sampledOneIn: number,
  /** Since the counting began: how often the kernel's events came faster than they were read, so that some were lost. */
  timesLost: number,
  /** Connections that the kernel tracks, of Services or not. */
  tracked: number,
  /** The kernel counts bytes (nf_conntrack_acct). */
  countsBytes: flag,
  /** The kernel tracks connections of Services: in mode ipvs only while net.ipv4.vs.conntrack is 1. */
  tracksServices: flag,
  /** Packets of pods to a dead endpoint on their own bridge leave no trace in the kernel's table. Missing: they do. */
  hidesDeadOnBridges: optional(flag),
};

/** The traffic of an interval: a line of the answer to `/debug/traffic`. */
export type TrafficReport = ReturnType<typeof trafficAnswer>;
export const trafficAnswer = fields({
  ...counting,
  /** Its end. */
  time,
  /** Its length. */
  seconds: number,
  services: list(portReport),
  /** Service ports left out because of the limit. */
  omitted: number,
});

/** How the endpoints are used that any frontend may reach, or might if they did not step aside: by `ip:port`. */
export function endpointUses(selection: EndpointSelection): ReadonlyMap<string, EndpointUse> {
  const aside = asideOf(selection).map((one): [string, EndpointUse] => [endpointPlace(one), 'aside']);
  const used = selection.reachable.map((one): [string, EndpointUse] => [
    endpointPlace(one),
    one.ready ? 'ready' : 'terminating',
  ]);
  return new Map([...aside, ...used]);
}
