import { delay } from '../../../application/retries.js';
import type { Clock } from '../../../application/ports/clock.js';
import type { SourceState, SourceStatus } from '../../../application/ports/cluster-source.js';
import type { Logger } from '../../../application/ports/logger.js';
import type { ApiClient } from '../client/api-client.js';
import { ApiError, ApiShortWatchError, ApiSilenceError, ApiProtocolError } from '../client/api-error.js';
import { isOlder, KnownObjects, RewindDetector, type ObjectListener } from './known-objects.js';
import { watchName, versionOf, type WatchRequest, type WatchEvent } from './open-watch.js';
import { ResourceReader, type Listed } from './resource-reader.js';
import type { Resource } from './resources.js';
import { FailureLog, RetrySchedule } from './retries.js';
import type { CheckedKind, RewindCheck } from './rewind-check.js';

/** Milliseconds, unless noted otherwise. */
export const defaultReflectorTimings = {
  /** Lists by a watch where the server offers it. */
  streamLists: true,
  /** Objects in a page of a list. */
  pageSize: 500,
  /** A watch is requested for a random time between these. */
  watchMinimum: 300_000,
  watchMaximum: 600_000,
  /** A watch that received nothing for a random time between these may hang: bookmarks come about once a minute. */
  silenceMinimum: 120_000,
  silenceMaximum: 150_000,
  /** A watch that ended earlier than this, without any event, counts as a failure; only one that lasts this long as a success. */
  watchTooShort: 1_000,
  backoff: { initial: 1_600, maximum: 60_000, resetAfter: 120_000 },
  /** A resource that the server does not have is requested again after this and a random time up to as much again. */
  absentRetry: 300_000,
  /** A lasting failure is logged once in this time. */
  warnEvery: 30_000,
};

export type ReflectorTimings = Readonly<typeof defaultReflectorTimings>;

/** Receives what a reflector sees. Called synchronously. */
interface ReflectorListener extends ObjectListener {
  /** The initial list is complete. Once, and again after the resource was absent. */
  synced(): void;
  /** The cluster does not offer the resource, for now. Once, and again after it was listed. */
  absent(): void;
}

/**
 * Mirrors one resource of the API: reports objects and their changes to its listener. It keeps only each object's
 * resourceVersion. Its states:
 *
 * - *listing*, at first. Objects are delivered as they arrive, by a stream or in pages, unless their version is known. In the
 *   end, known objects that the list did not contain are deleted.
 * - *watching*, from the list's version; a stream continues as a watch. Every event and bookmark advances that version. A watch
 *   that ended at its time is resumed immediately, any other after *backing off*. When the server has forgotten the version (410),
 *   it lists again.
 * - *backing off*, after every failure, longer each time until a watch lasts again; and briefly after a watch that ended before
 *   its time, as watches do when a server shuts down. One that ended immediately is a failure; it is resumed from the same version.
 * - *absent*, when the server does not offer the resource, as before an upgrade or after a downgrade. It is requested again from
 *   time to time; what is known stays.
 * - *stopped*, after the signal was aborted.
 *
 * A watch that receives nothing for a while, not even a bookmark, may hang; or the server's storage was restored from a
 * backup and has not reached the version again. So the watch is closed and resumed. As soon as a watch lasts after one that ended
 * before its time, and after an event with an older version than a known one, the storage's version is checked; after a restore,
 * all kinds are listed again.
 *
 * The first list comes immediately, since a node without rules needs it, and requests version "0", anything in the server's cache,
 * which costs least when all nodes of a cluster start together. Later lists request at least the last known version, so that
 * no older state comes back. If that fails, they request the newest.
 */
export class Reflector implements CheckedKind {
  /** Names the watch in errors. */
  private readonly name: string;
  private readonly known: KnownObjects;
  private readonly reader: ResourceReader;
  private readonly position = new Position();
  private readonly retries: RetrySchedule;
  private readonly failures: FailureLog;
  private readonly versions: RewindDetector;
  private readonly logger: Logger;
  private state: SourceState = 'listing';
  private connected = false;
  private synced = false;
  private listed = false;
  private absentReported = false;
  private startedAt = 0;
  private lastActivity: number | undefined;
  private failure: string | undefined;
  /** When the server is to end the watch. */
  private endsAt = 0;
  /** When a watch ended before its time that none has gone on from for long enough. */
  private interruptedAt: number | undefined;
  private shortWatches = 0;
  private untilRewound = new AbortController();

  constructor(
    readonly resource: Resource,
    client: ApiClient,
    private readonly listener: ReflectorListener,
    private readonly rewinds: RewindCheck,
    private readonly timings: ReflectorTimings,
    private readonly clock: Clock,
    logger: Logger,
    private readonly random: () => number = Math.random,
  ) {
    this.name = watchName(resource);
    this.logger = logger.child({ kind: resource.kind });
    this.known = new KnownObjects(listener, this.logger, resource.isSelected);
    this.reader = new ResourceReader(client, resource, this.known, this.logger, timings.streamLists);
    this.retries = new RetrySchedule(timings.backoff, random);
    this.failures = new FailureLog(this.logger, clock, timings.warnEvery);
    this.versions = new RewindDetector(timings.silenceMinimum);
  }

  /** Runs until the signal is aborted. Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    this.startedAt = this.clock.now();
    while (!signal.aborted) {
      this.untilRewound = new AbortController();
      await this.follow(AbortSignal.any([signal, this.untilRewound.signal]));
    }
    this.state = 'stopped';
  }

  get newest(): string {
    return this.state === 'absent' ? '' : this.versions.newest;
  }

  listAgain(): void {
    this.versions.rewound();
    this.position.discard();
    this.untilRewound.abort();
  }

  status(): SourceStatus {
    return {
      kind: this.resource.kind,
      state: this.state,
      synced: this.synced,
      connected: this.connected,
      objects: this.known.size,
      rewinds: this.versions.rewinds,
      shortWatches: this.shortWatches,
      ...(this.lastActivity === undefined ? {} : { lastActivity: this.lastActivity }),
      ...(this.failure === undefined ? {} : { failure: this.failure }),
    };
  }

  /** Reports everything known as deleted. For a reflector that has stopped, or whose resource is absent. */
  retract(): void {
    for (const key of this.known.keys()) this.known.remove(key);
  }

  private async follow(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        const { version } = this.position;
        const listed = version === undefined ? await this.list(signal) : { version };
        // The signal has closed the watch of this list.
        if (signal.aborted) return;
        this.position.version = listed.version;
        await this.watch(listed, signal);
      } catch (error) {
        if (!signal.aborted) await this.recover(error as Error, signal);
      }
    }
  }

  private async list(signal: AbortSignal): Promise<Listed> {
    this.state = 'listing';
    // A server whose storage was restored may have given the same versions to other contents.
    if (this.position.listFrom === '') this.known.forgetVersions();
    const listed = await this.reader.list({
      from: this.position.listFrom,
      pageSize: this.timings.pageSize,
      onRefused: async (error) => {
        await this.recover(error, signal);
        this.state = 'listing';
      },
      ...this.watchOptions(signal),
    });
    this.listed = true;
    this.succeeded();
    this.interruptedAt = undefined;
    const { version } = listed;
    const { newest } = this.versions;
    if (isOlder(version, newest)) {
      this.versions.rewound();
      this.rewinds.rewound(this, newest, version);
    }
    this.versions.observe(version);
    this.reportSynced();
    return listed;
  }

  private watchOptions(signal: AbortSignal): Omit<WatchRequest, 'from'> {
    const { watchMinimum, watchMaximum, silenceMinimum, silenceMaximum } = this.timings;
    const lifetime = this.between(watchMinimum, watchMaximum);
    this.endsAt = this.clock.steady() + lifetime;
    return {
      lifetime,
      silence: this.between(silenceMinimum, silenceMaximum),
      signal,
      onActivity: () => this.wasActive(),
    };
  }

  /** Continues with the watch that the list came with, or opens one. */
  private async watch({ version: from, watch: streamed }: Listed, signal: AbortSignal): Promise<void> {
    this.state = 'watching';
    const watch = streamed ?? (await this.reader.watch({ from, ...this.watchOptions(signal) }));
    this.connected = true;
    let lasted = false;
    const lasting = this.clock.after(this.timings.watchTooShort, () => {
      lasted = true;
      this.onLasting();
    });
    try {
      await watch.read((event) => {
        this.onEvent(event);
        return false;
      });
    } catch (error) {
      if (!(error instanceof ApiSilenceError)) throw error;
      this.logger.debug({ error: error.message }, 'the watch is idle; opening a new one');
    } finally {
      lasting.cancel();
      this.connected = false;
      if (this.clock.steady() < this.endsAt) this.interruptedAt = this.rewinds.moment();
    }
    if (!lasted && this.position.version === from) {
      this.shortWatches++;
      throw new ApiShortWatchError(this.name);
    }
    if (this.clock.steady() >= this.endsAt) return;
    this.reader.relearn();
    await this.pause(this.retries.afterEarlyEnd(), signal);
  }

  private onLasting(): void {
    this.succeeded();
    this.wasActive();
    this.retries.reached();
    if (this.interruptedAt !== undefined) this.rewinds.suspect(this.interruptedAt);
    this.interruptedAt = undefined;
  }

  private onEvent(event: WatchEvent): void {
    const { type, object } = event;
    if (type === 'ADDED' || type === 'MODIFIED') this.known.apply(object);
    else if (type === 'DELETED') this.known.delete(object);
    const version = versionOf(event, this.name);
    this.position.version = version;
    if (this.versions.observe(version) && this.versions.suspect(this.clock.now()))
      this.rewinds.suspect(this.rewinds.moment());
  }

  private async recover(error: Error, signal: AbortSignal): Promise<void> {
    if (error instanceof ApiError && this.isAbsent(error)) return this.waitWhileAbsent(error, signal);
    if (!(error instanceof ApiError)) this.reader.relearn();
    this.failure = error.message;
    this.position.failed(error);
    const wait = this.retries.afterFailure(error, this.clock.now());
    if (error instanceof ApiError && error.expired) {
      this.logger.debug({ error: error.message, wait }, 'the watch expired; listing again');
    } else {
      this.failures.failed(error, { state: this.state, wait });
    }
    await this.pause(wait, signal);
  }

  private isAbsent({ code }: ApiError): boolean {
    const mayBeAbsent = !this.listed || (code === 404 && this.position.version === undefined);
    return mayBeAbsent && this.resource.absentOn?.includes(code) === true;
  }

  private async pause(wait: number, signal: AbortSignal): Promise<void> {
    this.state = 'backing-off';
    await delay(this.clock, wait, signal);
  }

  private async waitWhileAbsent(error: ApiError, signal: AbortSignal): Promise<void> {
    this.state = 'absent';
    this.failure = error.message;
    const wait = this.between(this.timings.absentRetry, 2 * this.timings.absentRetry);
    if (!this.absentReported) {
      this.absentReported = true;
      this.logger.info(
        { error: error.message, retryMilliseconds: wait },
        'the cluster does not offer this resource; continuing without it',
      );
      this.synced = true;
      this.listener.absent();
    }
    await delay(this.clock, wait, signal);
  }

  private succeeded(): void {
    this.failure = undefined;
    this.failures.succeeded();
  }

  private reportSynced(): void {
    if (this.synced && !this.absentReported) return;
    this.absentReported = false;
    this.synced = true;
    this.logger.info({ objects: this.known.size, ms: this.clock.now() - this.startedAt }, 'synced');
    this.listener.synced();
  }

  private wasActive(): void {
    this.lastActivity = this.clock.now();
  }

  private between(minimum: number, maximum: number): number {
    return Math.round(minimum + this.random() * (maximum - minimum));
  }
}

/** Where a reflector continues: with a watch, or else with a list. */
export class Position {
  /** The version to continue watching from; undefined: list first. */
  version: string | undefined;
  private from = '0';
  private unreadableAt: string | undefined;

  /** The minimum version of a list: "0", any cached version; "", the newest. */
  get listFrom(): string {
    return this.from;
  }

  /** The version cannot be continued from: everything is listed from the storage. */
  discard(): void {
    this.from = '';
    this.version = undefined;
  }

  /** Decides after a failure whether to continue watching or to list, and from which version. */
  failed(error: Error): void {
    const { version } = this;
    if (version === undefined) {
      if (error instanceof ApiError && (error.expired || error.fromTheFuture)) this.from = '';
    } else if (error instanceof ApiError && (error.expired || error.fromTheFuture || error.code === 404)) {
      this.listAfter(version);
    } else if (error instanceof ApiProtocolError) {
      // An event that is unreadable twice is skipped by listing.
      if (this.unreadableAt === version) this.listAfter(version);
      else this.unreadableAt = version;
    }
  }

  /** A list that failed before from the same version requests the newest. */
  private listAfter(version: string): void {
    this.from = this.from === version ? '' : version;
    this.version = undefined;
  }
}
