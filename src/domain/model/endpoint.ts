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
