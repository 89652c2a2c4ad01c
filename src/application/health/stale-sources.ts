import type { ResourceKind, SourceStatus } from '../ports/cluster-source.js';

/** A kind of which news may be missing, and the sign of it. */
export interface StaleSource {
  readonly kind: ResourceKind;
  readonly reason: string;
}

/** An API server sends a bookmark about once a minute, so an open watch that is silent for so long hangs. Milliseconds. */
const LONGEST_SILENCE = 180_000;
/** Without a watch for so long. Restarts of an API server take less. Milliseconds. */
const LONGEST_GAP = 60_000;

/**
 * The kinds of which the proxy may not have the present state. Stale knowledge is no ill health: what is programmed goes on
 * working, a restart mends nothing, and when the API server is away every node of the cluster is in the same state.
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
