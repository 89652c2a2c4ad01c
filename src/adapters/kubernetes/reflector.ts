import type { Clock } from '../../application/ports/clock.js';
import type { ObjectReference, SourceState, SourceStatus } from '../../application/ports/cluster-source.js';
import type { Logger } from '../../application/ports/logger.js';
import type { ApiClient } from './api-client.js';
import { ApiError, ApiProtocolError, ApiSilenceError } from './api-error.js';
import { Backoff } from './backoff.js';
import { delay } from './delay.js';
import { FailureLog } from './failure-log.js';
import { LineDecoder } from './line-decoder.js';
import type { ListMetadata } from './list-decoder.js';
import { requestList } from './list-request.js';
import { identityOf, referenceOf } from './object-identity.js';
import type { Resource } from './resources.js';
import type { ReflectorTimings } from './timings.js';
import { VersionMark } from './version-mark.js';
import { parseWatchEvent } from './watch-event.js';

/** Who receives what a reflector sees. Called synchronously. */
export interface ReflectorListener {
  applied(object: unknown): void;
  deleted(reference: ObjectReference): void;
  /** The initial list is complete. Once. */
  synced(): void;
  /** The cluster does not offer the resource, for now. Once. */
  absent(): void;
}

/**
 * Mirrors one resource of the API: tells its listener what is there and what changes, and keeps nothing but each
 * object's resourceVersion.
 *
 * It begins *listing*. A list comes in pages; objects are delivered as they arrive, unless known in the same version.
 * When the last page is there, what is known and was not in the list is deleted, and it goes on *watching* from the
 * list's version. Every event and bookmark moves that version on. A watch that ends as agreed, or breaks, is resumed
 * from there: after a clean end at once, else after *backing off*, as after every failure, longer each time until a watch
 * lasts again. When the server has forgotten the version (410) it is back at *listing*; what changed meanwhile is found by
 * the difference. A list whose pages expire is begun again without pages. A resource that the server does not offer is
 * *absent* and asked for again from time to time; once listed, it is not taken to be absent again. Aborting the signal ends
 * it: *stopped*.
 *
 * A watch on which nothing came for a while, not even a bookmark, may be one that hangs, or one of a server whose storage was
 * restored from a backup and that waits to get to the version again. So it is cut off, the server is asked where it stands, by
 * a list of one object, and the watch is resumed, unless the server has gone back: then everything is listed anew. The same
 * when an event has an older version than was known.
 *
 * Which version a list asks for: the first "0", anything that the server has in its cache, which costs least when all
 * nodes of a cluster start at once. Later ones at least the last version known, so that no older state comes back.
 * When that does not get further, none: the newest.
 */
export class Reflector {
  private readonly known = new Map<string, string>();
  private readonly backoff: Backoff;
  /** Apart, so that a list that must be made anew after an outage does not wait as long as the outage had it wait. */
  private readonly expiries: Backoff;
  private readonly failures: FailureLog;
  private readonly logger: Logger;
  private state: SourceState = 'listing';
  private connected = false;
  private synced = false;
  private listed = false;
  private absentReported = false;
  private startedAt = 0;
  private lastActivity: number | undefined;
  private failure: string | undefined;
  /** The version that watching goes on from; undefined: list first. */
  private version: string | undefined;
  private listFrom = '0';
  private brokenAt: string | undefined;
  private readonly mark: VersionMark;

  constructor(
    private readonly resource: Resource,
    private readonly client: ApiClient,
    private readonly listener: ReflectorListener,
    private readonly timings: ReflectorTimings,
    private readonly clock: Clock,
    logger: Logger,
    private readonly random: () => number = Math.random,
  ) {
    this.logger = logger.child({ kind: resource.kind });
    this.backoff = new Backoff(timings.backoff, random);
    this.expiries = new Backoff(timings.backoff, random);
    this.failures = new FailureLog(this.logger, clock, timings.warnEvery);
    this.mark = new VersionMark(timings.silenceMinimum);
  }

  /** Runs until the signal is aborted. Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    this.startedAt = this.clock.now();
    while (!signal.aborted) {
      try {
        this.version ??= await this.list(signal);
        if (this.mark.doubted) await this.askWhereItStands(signal);
        else await this.watch(this.version, signal);
      } catch (error) {
        if (!signal.aborted) await this.recover(error as Error, signal);
      }
    }
    this.state = 'stopped';
  }

  status(): SourceStatus {
    return {
      kind: this.resource.kind,
      state: this.state,
      synced: this.synced,
      connected: this.connected,
      objects: this.known.size,
      rewinds: this.mark.rewinds,
      ...(this.lastActivity === undefined ? {} : { lastActivity: this.lastActivity }),
      ...(this.failure === undefined ? {} : { failure: this.failure }),
    };
  }

  /** Tells the listener that everything known is gone. For a reflector that has stopped and is not needed any more. */
  retract(): void {
    for (const key of this.known.keys()) this.listener.deleted(referenceOf(key));
    this.known.clear();
  }

  private async list(signal: AbortSignal): Promise<string> {
    this.state = 'listing';
    // The newest state may be that of a server which has gone back and given the same versions to other contents.
    if (this.listFrom === '') for (const key of this.known.keys()) this.known.set(key, '');
    const seen = new Set<string>();
    let limit: number | undefined = this.timings.pageSize;
    let page: ListMetadata = { resourceVersion: '', continue: '' };
    do {
      try {
        page = await this.listPage(limit, page.continue, seen, signal);
      } catch (error) {
        if (!page.continue || !(error instanceof ApiError && error.expired)) throw error;
        this.logger.debug({}, 'the list expired between pages, listing again without pages');
        limit = undefined;
        seen.clear();
        page = await this.listPage(limit, '', seen, signal);
      }
    } while (page.continue);
    for (const key of this.known.keys()) if (!seen.has(key)) this.remove(key);
    this.listed = true;
    this.succeeded();
    this.standsAt(page.resourceVersion);
    this.mark.saw(page.resourceVersion);
    this.reportSynced();
    return page.resourceVersion;
  }

  private listPage(
    limit: number | undefined,
    token: string,
    seen: Set<string>,
    signal: AbortSignal,
  ): Promise<ListMetadata> {
    const pinned = !token && this.listFrom !== '' && this.listFrom !== '0';
    return requestList(this.client, this.resource, {
      query: {
        limit,
        continue: token || undefined,
        // A continue token carries its version; with it the server refuses any other.
        resourceVersion: token ? undefined : this.listFrom || undefined,
        resourceVersionMatch: pinned ? 'NotOlderThan' : undefined,
      },
      continued: token !== '',
      signal,
      onObject: (object) => this.apply(object, seen),
      onActivity: () => this.wasActive(),
    });
  }

  /** Only the storage itself knows: a list without a version is never answered from a cache that lags behind. */
  private async askWhereItStands(signal: AbortSignal): Promise<void> {
    // A server that does not answer this is asked at the next sign.
    this.mark.doubted = false;
    const { resourceVersion } = await requestList(this.client, this.resource, {
      query: { limit: 1 },
      signal,
      onObject: () => {},
      onActivity: () => this.wasActive(),
    });
    this.succeeded();
    if (!this.standsAt(resourceVersion)) return;
    this.listFrom = '';
    this.version = undefined;
  }

  /** Returns whether the server has gone back to this version. */
  private standsAt(version: string): boolean {
    const before = this.mark.standsAt(version);
    if (before === undefined) return false;
    this.logger.warn(
      { before, now: version },
      'the API server has gone back to an older resourceVersion, as after a restore from a backup; everything is listed anew',
    );
    return true;
  }

  private async watch(from: string, signal: AbortSignal): Promise<void> {
    const { watchMinimum, watchMaximum, silenceMinimum, silenceMaximum, watchTooShort } = this.timings;
    const { path, labelSelector, fieldSelector } = this.resource;
    this.state = 'watching';
    const lasting = this.between(watchMinimum, watchMaximum);
    const response = await this.client.open({
      path,
      query: {
        labelSelector,
        fieldSelector,
        watch: 'true',
        allowWatchBookmarks: 'true',
        resourceVersion: from,
        timeoutSeconds: Math.max(1, Math.ceil(lasting / 1000)),
      },
      signal,
    });
    const begun = this.clock.now();
    this.wasActive();
    this.succeeded();
    this.connected = true;
    try {
      const lines = new LineDecoder();
      for await (const chunk of response.chunks(this.between(silenceMinimum, silenceMaximum))) {
        this.wasActive();
        for (const line of lines.push(chunk)) this.onEvent(line);
      }
    } catch (error) {
      if (!(error instanceof ApiSilenceError)) throw error;
      this.mark.doubt(this.clock.now());
      this.logger.debug({ error: error.message }, 'the watch is silent and begun anew');
    } finally {
      this.connected = false;
      // The server was there: what broke now has nothing to do with earlier failures.
      if (this.clock.now() - begun >= watchTooShort) this.backoff.reset();
    }
    if (this.version === from && this.clock.now() - begun < watchTooShort) {
      throw new ApiProtocolError(`watch ${path}`, 'the server ended the watch at once');
    }
  }

  private onEvent(line: string): void {
    const name = `watch ${this.resource.path}`;
    const { type, object } = parseWatchEvent(line, name);
    const identity = identityOf(object);
    switch (type) {
      case 'ADDED':
      case 'MODIFIED':
        this.apply(object);
        break;
      case 'DELETED':
        if (identity) this.remove(identity.key);
        break;
    }
    const version = (object as { metadata?: { resourceVersion?: unknown } }).metadata?.resourceVersion;
    if (typeof version !== 'string')
      throw new ApiProtocolError(name, `an event ${type} without resourceVersion`);
    this.version = version;
    if (this.mark.saw(version) && this.mark.doubt(this.clock.now()))
      throw new ApiProtocolError(name, `an event of version ${version}, which is older than one before`);
  }

  private apply(object: unknown, seen?: Set<string>): void {
    const identity = identityOf(object);
    if (!identity) {
      this.logger.warn({}, 'the API server sent an object without name or resourceVersion, left out');
      return;
    }
    seen?.add(identity.key);
    if (this.known.get(identity.key) === identity.resourceVersion) return;
    this.known.set(identity.key, identity.resourceVersion);
    this.listener.applied(object);
  }

  private remove(key: string): void {
    if (this.known.delete(key)) this.listener.deleted(referenceOf(key));
  }

  private async recover(error: Error, signal: AbortSignal): Promise<void> {
    if (error instanceof ApiError && !this.listed && this.resource.absentOn?.includes(error.code)) {
      return this.waitWhileAbsent(error, signal);
    }
    this.failure = error.message;
    this.chooseNext(error);
    const expired = error instanceof ApiError && error.expired;
    const wait = Math.max(
      (expired ? this.expiries : this.backoff).next(this.clock.now()),
      (error instanceof ApiError && error.retryAfter) || 0,
    );
    if (expired) {
      this.logger.debug({ error: error.message, wait }, 'the watch expired, listing again');
    } else {
      this.failures.failed(error, { state: this.state, wait });
    }
    this.state = 'backing-off';
    await delay(this.clock, wait, signal);
  }

  /** Whether to go on watching or to list, and from which version. */
  private chooseNext(error: Error): void {
    if (this.version === undefined) {
      if (error instanceof ApiError && (error.expired || error.fromTheFuture)) this.listFrom = '';
    } else if (error instanceof ApiError && (error.expired || error.fromTheFuture || error.code === 404)) {
      this.relist();
    } else if (error instanceof ApiProtocolError) {
      // What cannot be read the second time is skipped by listing.
      if (this.brokenAt === this.version) this.relist();
      else this.brokenAt = this.version;
    }
  }

  private relist(): void {
    const last = this.version ?? '';
    this.listFrom = this.listFrom === last ? '' : last;
    this.version = undefined;
  }

  private async waitWhileAbsent(error: ApiError, signal: AbortSignal): Promise<void> {
    this.state = 'absent';
    this.failure = error.message;
    if (!this.absentReported) {
      this.absentReported = true;
      this.logger.info(
        { error: error.message, retryMilliseconds: this.timings.absentRetry },
        'the cluster does not offer this resource, going on without it',
      );
      this.synced = true;
      this.listener.absent();
    }
    await delay(this.clock, this.timings.absentRetry, signal);
  }

  private succeeded(): void {
    this.failure = undefined;
    this.failures.succeeded();
  }

  private reportSynced(): void {
    if (this.synced && !this.absentReported) return;
    this.absentReported = false;
    this.synced = true;
    this.logger.info({ objects: this.known.size, milliseconds: this.clock.now() - this.startedAt }, 'synced');
    this.listener.synced();
  }

  private wasActive(): void {
    this.lastActivity = this.clock.now();
  }

  private between(minimum: number, maximum: number): number {
    return Math.round(minimum + this.random() * (maximum - minimum));
  }
}
