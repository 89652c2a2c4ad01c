import { hostPort } from '../net/ip-family.js';
import type { Protocol } from './service-port-name.js';

/** One endpoint of a service port: a target for connections. */
export interface Endpoint {
  readonly address: string;
  readonly port: number;
  /** Runs on this node. */
  readonly isLocal: boolean;
  readonly ready: boolean;
  readonly serving: boolean;
  readonly terminating: boolean;
  readonly zoneHints: readonly string[];
  readonly nodeHints: readonly string[];
  /** Name of the pod, in the namespace of the Service; missing if it is not a pod, or not known. */
  readonly pod?: string | undefined;
  /** The node and the zone where it runs; missing if not known. */
  readonly nodeName?: string | undefined;
  readonly zone?: string | undefined;
  /** Its part of new connections, 0 to 1000, as compared with others; missing: 1. */
  readonly weight?: number;
  /** Its part of new connections where open connections count, as compared with others; missing: its weight. */
  readonly effectiveWeight?: number;
}

/** Where an endpoint is, `ip:port`: by this, endpoints are sorted and compared. Made when it is needed, as there are very many. */
export function endpointPlace({ address, port }: Pick<Endpoint, 'address' | 'port'>): string {
  return hostPort(address, port);
}

/** An endpoint in a sentence: `pod cart-7f9 (10.244.1.7:8080)`, or `10.244.1.7:8080` if no pod is known. */
export function endpointName(endpoint: Pick<Endpoint, 'address' | 'port' | 'pod'>): string {
  const place = endpointPlace(endpoint);
  return endpoint.pod === undefined ? place : `pod ${endpoint.pod} (${place})`;
}

/**
 * How many endpoints there are in lists, one for each port of a Service, in which the same one may occur several times: an endpoint is a
 * pod, or where no pod is known, an address. Such an address counts several times if one port of the Service leads to several ports there.
 */
export function distinctCount(
  ...lists: readonly (readonly (Pick<Endpoint, 'pod' | 'address'> & { readonly port?: number })[])[]
): number {
  const pods = new Set<string>();
  const atAddress = new Map<string, number>();
  for (const list of lists) {
    const places = new Map<string, string>();
    for (const { pod, address, port } of list)
      if (pod === undefined) places.set(`${address} ${port}`, address);
      else pods.add(pod);
    const here = new Map<string, number>();
    for (const address of places.values()) here.set(address, (here.get(address) ?? 0) + 1);
    for (const [address, count] of here) atAddress.set(address, Math.max(count, atAddress.get(address) ?? 0));
  }
  return [...atAddress.values()].reduce((sum, count) => sum + count, pods.size);
}

/** Identifies a port within its Service. */
export interface PortIdentity {
  readonly port: string;
  readonly protocol: Protocol;
}

/**
 * The endpoints, with those of an earlier list in place of equal ones, or the earlier list itself if all are equal. Both are
 * sorted. A change concerns few endpoints: what stays needs no memory of its own, and is found equal immediately.
 */
export function sharedWith(before: readonly Endpoint[], endpoints: readonly Endpoint[]): readonly Endpoint[] {
  let equal = 0;
  const shared = endpoints.slice();
  forEachPlace(endpoints, before, (position, found) => {
    const earlier = before[found];
    if (!earlier || !sameEndpoint(earlier, endpoints[position]!)) return;
    equal++;
    shared[position] = earlier;
  });
  return equal === before.length && equal === endpoints.length ? before : shared;
}

/**
 * For sorting, and for walks through sorted lists: the order of `ip:port`, nearly always without making these texts, as lists may be long.
 * Both are of one IP family.
 */
export function comparePlaces(one: Endpoint, other: Endpoint): number {
  if (samePlace(one, other)) return 0;
  // A port follows the shorter address, and decides.
  const isBeginning = one.address.startsWith(other.address) || other.address.startsWith(one.address);
  if (isBeginning) return endpointPlace(one) < endpointPlace(other) ? -1 : 1;
  return one.address < other.address ? -1 : 1;
}

/** Walks through a sorted list, with the position of each endpoint in another sorted list, in any state; -1 if that lacks it. */
export function forEachPlace(
  list: readonly Endpoint[],
  other: readonly Endpoint[],
  take: (position: number, otherPosition: number) => void,
): void {
  let at = 0;
  for (let position = 0; position < list.length; position++) {
    const endpoint = list[position]!;
    while (at < other.length && other[at] !== endpoint && comparePlaces(other[at]!, endpoint) < 0) at++;
    const found = other[at];
    take(position, found && samePlace(found, endpoint) ? at++ : -1);
  }
}

/** The endpoints of a sorted list that another sorted list lacks, in any state. */
export function lackedBy(other: readonly Endpoint[], list: readonly Endpoint[]): readonly Endpoint[] {
  const lacked: Endpoint[] = [];
  forEachPlace(list, other, (position, found) => {
    if (found < 0) lacked.push(list[position]!);
  });
  return lacked;
}

/** Whether both have the same address and port, in any state. */
export function samePlace(one: Endpoint, other: Endpoint): boolean {
  return one === other || (one.address === other.address && one.port === other.port);
}

/** Whether nothing differs. */
export function sameEndpoint(one: Endpoint, other: Endpoint): boolean {
  return (
    samePlace(one, other) &&
    one.isLocal === other.isLocal &&
    one.ready === other.ready &&
    one.serving === other.serving &&
    one.terminating === other.terminating &&
    one.weight === other.weight &&
    one.pod === other.pod &&
    one.nodeName === other.nodeName &&
    one.zone === other.zone &&
    sameTexts(one.zoneHints, other.zoneHints) &&
    sameTexts(one.nodeHints, other.nodeHints)
  );
}

function sameTexts(one: readonly string[], other: readonly string[]): boolean {
  return one === other || (one.length === other.length && one.every((text, index) => text === other[index]));
}

/**
 * Sorts by `ip:port` and removes duplicates: one that is not terminating wins over one that is; among several the last wins
 * (docs/internals/spec/model.md §3.3).
 */
export function sortedOnce(endpoints: readonly Endpoint[]): readonly Endpoint[] {
  const isSorted = endpoints.every(
    (endpoint, index) => index === 0 || comparePlaces(endpoints[index - 1]!, endpoint) < 0,
  );
  if (isSorted) return endpoints;
  const once: Endpoint[] = [];
  for (const endpoint of endpoints.toSorted(comparePlaces)) {
    const last = once.at(-1);
    if (!last || !samePlace(last, endpoint)) once.push(endpoint);
    else if (!endpoint.terminating) once[once.length - 1] = endpoint;
  }
  // Unlike a list that grows, this has no spare room.
  return once.slice();
}
