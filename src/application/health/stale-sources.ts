import type { ResourceKind, SourceStatus } from '../ports/cluster-source.js';

/** A kind whose news may be missing, and why. */
export interface StaleSource {
  readonly kind: ResourceKind;
  readonly reason: string;
}

/** An API server sends a bookmark about once a minute, so an open watch that is silent for this long hangs. Milliseconds. */
const LONGEST_SILENCE = 180_000;
/** Time without a watch. Restarts of an API server take less. Milliseconds. */
const LONGEST_GAP = 60_000;

/**
 * The kinds of which the proxy may not have the current state. Stale data does not make it unhealthy: what is programmed keeps
 * working, a restart would not help, and during an outage of the API server every node is in the same state.
 */
export function staleSources(statuses: readonly SourceStatus[], now: number): readonly StaleSource[] {
  return statuses.flatMap((status) => {
    const reason = reasonOf(status, now);
    return reason === undefined ? [] : [{ kind: status.kind, reason }];
  });
}

function reasonOf(
  { state, synced, connected, lastActivity, failure }: SourceStatus,
  now: number,
): string | undefined {
  if (state === 'absent' || state === 'stopped') return undefined;
  const because = failure === undefined ? '' : `: ${failure}`;
  if (!synced) return `not listed yet${because}`;
  const silence = now - (lastActivity ?? -Infinity);
  if (silence < (connected ? LONGEST_SILENCE : LONGEST_GAP)) return undefined;
  const seconds = Math.floor(silence / 1000);
  return connected ? `the watch has been silent for ${seconds} s` : `no watch for ${seconds} s${because}`;
}
