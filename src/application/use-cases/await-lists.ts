import type { Clock } from '../ports/clock.js';
import type { ClusterSource, SourceStatus } from '../ports/cluster-source.js';

/** How long who looks only once waits for a source from which nothing comes. Milliseconds. */
export const LISTING_PATIENCE = 60_000;

const EVERY = 1_000;

/** Nothing comes from the source. */
class ListsMissingError extends Error {
  override readonly name = 'ListsMissingError';

  constructor(missing: readonly SourceStatus[], seconds: number) {
    const reasons = missing.map(({ kind, failure }) => `${kind} (${failure ?? 'no answer'})`);
    super(
      `nothing came from the API server for ${seconds} s, and these are not listed yet: ${reasons.join('; ')}; ` +
        'check that it can be reached from this node and that the proxy may list them',
    );
  }
}

/**
 * Resolves when a source has listed everything. Rejects with ListsMissingError when nothing came of a kind for `patience`
 * milliseconds before it was listed; a list that is slow to arrive is waited for.
 */
export function awaitLists(
  source: Pick<ClusterSource, 'status'>,
  patience: number,
  clock: Clock,
): Promise<void> {
  const begun = clock.now();
  return new Promise((resolve, reject) => {
    const look = (): void => {
      const missing = source.status().filter(({ synced }) => !synced);
      if (missing.length === 0) return resolve();
      const silent = missing.filter(({ lastActivity = begun }) => clock.now() - lastActivity >= patience);
      if (silent.length > 0) reject(new ListsMissingError(silent, patience / 1000));
      else clock.after(Math.min(EVERY, patience), look);
    };
    look();
  });
}
