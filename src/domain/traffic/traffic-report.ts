import type { Endpoint } from '../model/endpoint.js';
import type { ServicePortName } from '../model/service-port-name.js';
import type { IpFamily } from '../net/ip-family.js';

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
export interface TrafficNumbers {
  /** At its end: begun, and not closed. */
  readonly open: number;
  /** Begun in it. */
  readonly new: number;
  readonly newPerSecond: number;
  /** Without an answer: waiting for more than a second at its end, or ended in it without one. */
  readonly unanswered: number;
  /** In both directions; missing if the kernel does not count them. */
  readonly bytes?: number;
  readonly bytesPerSecond?: number;
}

/** How the proxy uses an endpoint: as ready; as terminating, while no other is left; not at all, or no longer. */
export type EndpointUse = 'ready' | 'terminating' | 'unused';

export interface EndpointReport extends TrafficNumbers {
  readonly address: string;
  readonly port: number;
  readonly state: EndpointUse;
  /** It is ready, and the last connections to it, three or more, got no answer. */
  readonly silent: boolean;
}

export interface PortReport extends TrafficNumbers, ServicePortName {
  readonly family: IpFamily;
  /** How many of the endpoints are silent. */
  readonly silentEndpoints: number;
  readonly endpoints: readonly EndpointReport[];
}

/** How what is reported was counted. */
export interface CountingFacts {
  /** The first walk through the kernel's table is over. Until then connections are missing. */
  readonly complete: boolean;
  /** How much of that table the first walk has read: 0 to 1. */
  readonly readShare: number;
  /** One in so many connections was counted, and the numbers multiplied; 1 for all. */
  readonly sampledOneIn: number;
  /** Since the counting began: how often the kernel's events came faster than they were read, so that some were lost. */
  readonly timesLost: number;
  /** Connections that the kernel tracks, of Services or not. */
  readonly tracked: number;
  /** The kernel counts bytes (nf_conntrack_acct). */
  readonly countsBytes: boolean;
  /** The kernel tracks connections of Services: in mode ipvs only while net.ipv4.vs.conntrack is 1. */
  readonly tracksServices: boolean;
  /** Packets of pods to a dead endpoint on their own bridge leave no trace in the kernel's table. Missing: they do. */
  readonly hidesDeadOnBridges?: boolean;
}

/** The traffic of an interval. */
export interface TrafficReport extends CountingFacts {
  /** Its end, in milliseconds since the epoch. */
  readonly time: number;
  /** Its length. */
  readonly seconds: number;
  readonly services: readonly PortReport[];
  /** Service ports left out because of the limit. */
  readonly omitted: number;
}

/** How an endpoint is used, if it is among those that any frontend may reach. */
export function endpointUse(endpoint: Endpoint | undefined): EndpointUse {
  if (!endpoint) return 'unused';
  return endpoint.ready ? 'ready' : 'terminating';
}
