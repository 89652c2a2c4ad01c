import type { Protocol } from './service-port-name.js';

/** One endpoint of a service port: a target for connections. */
export interface Endpoint {
  readonly address: string;
  readonly port: number;
  /** `ip:port`, the key for sorting and comparing endpoints. */
  readonly text: string;
  /** Runs on this node. */
  readonly isLocal: boolean;
  readonly ready: boolean;
  readonly serving: boolean;
  readonly terminating: boolean;
  readonly zoneHints: readonly string[];
  readonly nodeHints: readonly string[];
}

/** Identifies a port within its Service. */
export interface PortIdentity {
  readonly port: string;
  readonly protocol: Protocol;
}

/**
 * The endpoints, with those of an earlier list in place of equal ones, or the earlier list itself if all are equal. Both are
 * sorted. A change concerns few endpoints: what stays needs no memory of its own, and is found equal at once.
 */
export function sharedWith(before: readonly Endpoint[], endpoints: readonly Endpoint[]): readonly Endpoint[] {
  let at = 0;
  let equal = 0;
  const shared = endpoints.map((endpoint) => {
    while (at < before.length && before[at]!.text < endpoint.text) at++;
    const earlier = before[at];
    if (!earlier || !sameEndpoint(earlier, endpoint)) return endpoint;
    equal++;
    return earlier;
  });
  return equal === before.length && equal === endpoints.length ? before : shared;
}

function sameEndpoint(one: Endpoint, other: Endpoint): boolean {
  return (
    one.text === other.text &&
    one.isLocal === other.isLocal &&
    one.ready === other.ready &&
    one.serving === other.serving &&
    one.terminating === other.terminating &&
    sameTexts(one.zoneHints, other.zoneHints) &&
    sameTexts(one.nodeHints, other.nodeHints)
  );
}

function sameTexts(one: readonly string[], other: readonly string[]): boolean {
  return one === other || (one.length === other.length && one.every((text, index) => text === other[index]));
}

/**
 * Sorts by `ip:port` and removes duplicates: one that is not terminating wins over one that is; among several the last wins
 * (docs/spec/model.md §3.3).
 */
export function sortedOnce(endpoints: readonly Endpoint[]): readonly Endpoint[] {
  if (isSortedOnce(endpoints)) return endpoints;
  const sorted = [...endpoints].sort((a, b) => (a.text < b.text ? -1 : a.text === b.text ? 0 : 1));
  if (isSortedOnce(sorted)) return sorted;
  // Equal texts are adjacent, in their original order.
  const byText = new Map<string, Endpoint>();
  for (const endpoint of sorted) {
    if (!endpoint.terminating || !byText.has(endpoint.text)) byText.set(endpoint.text, endpoint);
  }
  return [...byText.values()];
}

function isSortedOnce(endpoints: readonly Endpoint[]): boolean {
  return endpoints.every(({ text }, index) => index === 0 || endpoints[index - 1]!.text < text);
}
