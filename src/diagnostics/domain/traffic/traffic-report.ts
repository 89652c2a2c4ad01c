import { endpointPlace } from '../../../domain/model/endpoint.js';
import { asideOf, type EndpointSelection } from '../../../domain/select-endpoints.js';
import {
  fields,
  flag,
  list,
  number,
  optional,
  text,
  time,
  word,
  type Checked,
  family,
  protocol,
} from '../../../domain/shape.js';
import { countingFacts } from '../../../domain/traffic/counting-facts.js';
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

/** The traffic of an interval: a line of the answer to `/debug/traffic`. */
export type TrafficReport = ReturnType<typeof trafficAnswer>;
export const trafficAnswer = fields({
  ...countingFacts,
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
