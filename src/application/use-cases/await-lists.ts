import type { Clock } from '../ports/clock.js';
import type { ClusterSource, SourceStatus } from '../ports/cluster-source.js';
import { NamedError } from '../../domain/model/named-error.js';

/** How long a one-time command waits for a source that delivers nothing. Milliseconds. */
export const LISTING_TIMEOUT = 60_000;

const EVERY = 1_000;

/** The source delivers nothing. */
class ListsMissingError extends NamedError {
  constructor(missing: readonly SourceStatus[], seconds: number) {
    const reasons = missing.map(({ kind, failure }) => `${kind} (${failure ?? 'no response'})`);
    super(
      `no data from the API server for ${seconds} s, and these are not listed yet: ${reasons.join('; ')}; ` +
        'check that this node can reach it and that the proxy may list them',
    );
  }
}

/**
 * Resolves when a source has listed everything. Rejects with ListsMissingError when a kind that is not listed yet received no
 * data for `timeout` milliseconds. A list that arrives slowly is waited for.
 */
export function awaitLists(
  source: Pick<ClusterSource, 'status'>,
  timeout: number,
  clock: Clock,
): Promise<void> {
  const startedAt = clock.now();
  return new Promise((resolve, reject) => {
    const look = (): void => {
      const missing = source.status().filter(({ synced }) => !synced);
      if (missing.length === 0) return resolve();
      const silent = missing.filter(({ lastActivity = startedAt }) => clock.now() - lastActivity >= timeout);
      if (silent.length > 0) reject(new ListsMissingError(silent, timeout / 1000));
      else clock.after(Math.min(EVERY, timeout), look);
    };
    look();
  });
}
