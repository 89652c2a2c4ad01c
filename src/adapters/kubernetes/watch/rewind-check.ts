/** Detects that the storage of the API server was restored from a backup. */

import { delay } from '../../../application/retries.js';
import type { Clock } from '../../../application/ports/clock.js';
import type { Logger } from '../../../application/ports/logger.js';
import type { ApiClient } from '../client/api-client.js';
import { isOlder } from './known-objects.js';
import { requestList } from './resource-reader.js';
import type { Resource } from './resources.js';
import { FailureLog, RetrySchedule, type BackoffTimes } from './retries.js';

/** A kind as the check sees it. */
export interface CheckedKind {
  readonly resource: Resource;
  /** The newest version that the server has sent; "" before the first, and while it does not have the kind. */
  readonly newest: string;
  /** The storage was restored: known objects of any version may be wrong. */
  listAgain(): void;
}

/**
 * Finds out whether the storage of the API server was restored from a backup, for all kinds together: they count their versions in
 * common, so a kind whose own newest version is old enough to exist again may be as wrong as the one that shows the restore.
 *
 * The storage's version comes with a list of one object: without a version of its own such a list is never served from a cache
 * that lags behind. It is of the kind with the newest version, which a restore concerns first, and compared with that kind's
 * alone. It has no selectors: with them, a server may read many objects until it finds one.
 */
export class RewindCheck {
  private moments = 0;
  private suspectedSince = 0;
  /** When the storage was last asked of those times that it answered. */
  private answeredFor = 0;
  private rewoundAt = 0;
  private asking: Promise<void> | undefined;
  private readonly retries: RetrySchedule;
  private readonly failures: FailureLog;

  constructor(
    private readonly client: ApiClient,
    private readonly kinds: () => readonly CheckedKind[],
    { backoff, warnEvery }: { readonly backoff: BackoffTimes; readonly warnEvery: number },
    private readonly clock: Clock,
    private readonly logger: Logger,
    private readonly signal: AbortSignal,
  ) {
    this.retries = new RetrySchedule(backoff);
    this.failures = new FailureLog(logger, clock, warnEvery);
  }

  /** This moment, for `suspect`. It comes after all that were returned before. */
  moment(): number {
    return ++this.moments;
  }

  /**
   * The storage may have been restored at this moment or before it: queries until the server answers, unless it has answered
   * a question that was put later.
   */
  suspect(moment: number): void {
    this.suspectedSince = Math.max(this.suspectedSince, moment);
    this.asking ??= this.ask().finally(() => (this.asking = undefined));
  }

  /** The storage is at version `now`, older than one that was sent `before`: all kinds but the one that shows it list again. */
  rewound(shownBy: CheckedKind, before: string, now: string): void {
    this.rewoundAt = this.moment();
    this.logger.warn(
      { kind: shownBy.resource.kind, before, now },
      'the API server has gone back to an older resourceVersion, as after a restore from a backup; listing all kinds again',
    );
    for (const kind of this.kinds()) if (kind !== shownBy) kind.listAgain();
  }

  /** Resolves when nothing is asked any more, after the signal was aborted. */
  async stopped(): Promise<void> {
    await this.asking;
  }

  private async ask(): Promise<void> {
    while (this.answeredFor < this.suspectedSince && !this.signal.aborted) {
      const moment = this.moment();
      try {
        await this.compare(moment);
        this.answeredFor = moment;
        this.failures.succeeded();
      } catch (error) {
        if (this.signal.aborted) return;
        const wait = this.retries.afterFailure(error as Error, this.clock.now());
        this.failures.failed(error as Error, { wait });
        await delay(this.clock, wait, this.signal);
      }
    }
    this.retries.reached();
  }

  private async compare(moment: number): Promise<void> {
    const kinds = this.kinds().filter(({ newest }) => newest !== '');
    const first = kinds[0];
    if (!first) return;
    const asked = kinds.reduce(
      (newest, kind) => (isOlder(newest.newest, kind.newest) ? kind : newest),
      first,
    );
    // Its watch may be ahead of the answer when that comes.
    const before = asked.newest;
    const { kind, path } = asked.resource;
    const request = { query: { limit: 1 }, signal: this.signal };
    const { resourceVersion } = await requestList(this.client, { kind, path }, request);
    if (!isOlder(resourceVersion, before) || this.rewoundAt > moment) return;
    this.rewound(asked, before, resourceVersion);
    asked.listAgain();
  }
}
