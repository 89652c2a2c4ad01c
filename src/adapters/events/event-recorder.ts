/** Kubernetes events: sent to the API server, or logged where there is none. */

import { randomUUID } from 'node:crypto';
import type { EventsV1Event, EventsV1EventSeries } from '@kubernetes/client-node';
import type { EventsV1ApiRequestFactory } from '@kubernetes/client-node/dist/gen/apis/EventsV1Api.js';
import { V1MicroTime } from '@kubernetes/client-node/dist/types.js';
import { delay } from '../../application/retries.js';
import type { Clock, Timer } from '../../application/ports/clock.js';
import type { ClusterEvent, EventRecorder } from '../../application/ports/event-recorder.js';
import type { Logger } from '../../application/ports/logger.js';
import { anything } from '../../domain/shape.js';
import type { ApiClient } from '../kubernetes/client/api-client.js';
import { ApiConnectionError, ApiError } from '../kubernetes/client/api-error.js';
import { send } from '../kubernetes/client/send.js';
import { CredentialsError, KubeconfigError } from '../kubernetes/connection/connection.js';

/** Builds requests about events, and sends them to the API server. */
export interface EventApi {
  readonly requests: EventsV1ApiRequestFactory;
  readonly client: Pick<ApiClient, 'json'>;
}

/** As in client-go (docs/internals/spec/server.md §1.5). Milliseconds. */
const TRIES = 12;
const PAUSE = 10_000;
const JITTER = 0.25;
/** After this time without a repetition a series is over. Milliseconds. */
const SERIES_END = 360_000;
const MOST_QUEUED = 200;
const MOST_KNOWN = 500;
/** How long `stop` waits for queued events. Milliseconds. */
const STOP_TIMEOUT = 1_500;

/** An event and its state in the API server. */
interface Entry {
  readonly event: ClusterEvent;
  readonly firstTime: number;
  name: string;
  count: number;
  lastTime: number;
  /** The count in the API server; 0 before the first post. */
  posted: number;
  queued: boolean;
  end: Timer | undefined;
}

/**
 * Posts events to the API server, one at a time in the order of recording. After a temporary failure an event is retried about
 * every ten seconds, twelve attempts in all; the others wait. When too many wait, further ones are dropped, which is logged.
 *
 * An event that equals an earlier one starts a series, which is posted immediately. Further repetitions are only counted, and the
 * count is posted every six minutes. A series without a repetition for six minutes is over and forgotten.
 */
export class ApiEventRecorder implements EventRecorder {
  private readonly known = new Map<string, Entry>();
  private readonly queue: Entry[] = [];
  private readonly stopping = new AbortController();
  private work: Promise<void> | undefined;
  private readonly reportingInstance: string;
  private sequence = 0n;
  private dropping = false;

  /** @param hostname of the operating system; the Node's name may differ */
  constructor(
    private readonly api: () => Promise<EventApi>,
    hostname: string,
    private readonly clock: Clock,
    private readonly logger: Logger,
    private readonly random: () => number = Math.random,
  ) {
    this.reportingInstance = `kube-proxy-${hostname}`;
  }

  record(event: ClusterEvent): void {
    if (this.stopping.signal.aborted) return;
    const key = keyOf(event);
    const known = this.known.get(key);
    if (known) {
      if (event.name !== undefined) return;
      known.count++;
      known.lastTime = this.clock.now();
      if (known.posted === 1) this.enqueue(known);
      return;
    }
    const now = this.clock.now();
    const entry: Entry = {
      event,
      firstTime: now,
      name: this.nameFor(event),
      count: 1,
      lastTime: now,
      posted: 0,
      queued: false,
      end: undefined,
    };
    if (!this.enqueue(entry)) return;
    this.remember(key, entry);
  }

  /** Waits up to `STOP_TIMEOUT` for queued events, and ends. Idempotent. */
  async stop(): Promise<void> {
    const moment = new AbortController();
    await Promise.race([this.work, delay(this.clock, STOP_TIMEOUT, moment.signal)]);
    moment.abort();
    this.stopping.abort();
    for (const { end } of this.known.values()) end?.cancel();
    await this.work;
  }

  private nameFor(event: ClusterEvent): string {
    return eventName(event, BigInt(this.clock.now()) * 1_000_000n + (this.sequence++ % 1_000_000n));
  }

  private remember(key: string, entry: Entry): void {
    const [oldest] = this.known.keys();
    if (this.known.size >= MOST_KNOWN && oldest !== undefined) this.forget(oldest);
    this.known.set(key, entry);
    const check = (): void => {
      if (this.clock.now() - entry.lastTime >= SERIES_END) this.forget(key);
      else entry.end = this.clock.after(SERIES_END, check);
      if (entry.posted > 0 && entry.count > entry.posted) this.enqueue(entry);
    };
    entry.end = this.clock.after(SERIES_END, check);
  }

  /** With `entry`, only when the key still stands for it. */
  private forget(key: string, entry = this.known.get(key)): void {
    if (!entry || this.known.get(key) !== entry) return;
    entry.end?.cancel();
    this.known.delete(key);
  }

  private enqueue(entry: Entry): boolean {
    if (entry.queued) return true;
    if (this.queue.length >= MOST_QUEUED) {
      if (!this.dropping)
        this.logger.warn(
          { waiting: MOST_QUEUED },
          'too many events are waiting to be posted; dropping new ones',
        );
      this.dropping = true;
      return false;
    }
    entry.queued = true;
    this.queue.push(entry);
    this.work ??= this.postAll();
    return true;
  }

  private async postAll(): Promise<void> {
    const { signal } = this.stopping;
    for (let entry = this.queue[0]; entry && !signal.aborted; entry = this.queue[0]) {
      await this.post(entry);
      this.queue.shift();
      entry.queued = false;
      this.dropping = false;
      // An event repeated during its first post is a series now.
      if (entry.posted === 1 && entry.count > 1) this.enqueue(entry);
    }
    this.work = undefined;
  }

  private async post(entry: Entry): Promise<void> {
    const { signal } = this.stopping;
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.tryToPost(entry);
      } catch (error) {
        if (signal.aborted) return;
        if (!isTemporary(error) || attempt === TRIES) {
          const { reason, note } = entry.event;
          this.logger.warn({ error, event: reason, note, attempt }, 'cannot post an event');
          this.forget(keyOf(entry.event), entry);
          return;
        }
        this.logger.debug({ error, event: entry.event.reason, attempt }, 'cannot post an event; will retry');
        await delay(this.clock, PAUSE * (1 + this.random() * JITTER), signal);
        if (signal.aborted) return;
      }
    }
  }

  private async tryToPost(entry: Entry): Promise<void> {
    const { event, count, lastTime } = entry;
    const { requests, client } = await this.api();
    const { signal } = this.stopping;
    const namespace = eventNamespace(event);
    const series = { count, lastObserved: lastTime };
    if (entry.posted > 0) {
      try {
        const patch = requests.patchNamespacedEvent(entry.name, namespace, { series: seriesObject(series) });
        await send(client, patch, anything, { contentType: 'application/merge-patch+json', signal });
        entry.posted = count;
        return;
      } catch (error) {
        if (!(error instanceof ApiError && error.code === 404)) throw error;
        // Events live for an hour; the series continues with a new one.
        entry.posted = 0;
        entry.name = this.nameFor(event);
      }
    }
    const { name, firstTime } = entry;
    const object = eventObject(
      event,
      name,
      this.reportingInstance,
      firstTime,
      count > 1 ? series : undefined,
    );
    try {
      await send(client, requests.createNamespacedEvent(namespace, object), anything, { signal });
    } catch (error) {
      // The response to an earlier attempt was lost.
      if (!(error instanceof ApiError && error.code === 409)) throw error;
    }
    entry.posted = count;
  }
}

/** Whether another attempt may succeed: the server was unreachable or overloaded. */
function isTemporary(error: unknown): boolean {
  if (error instanceof ApiError) return error.code === 401 || error.code === 429 || error.code >= 500;
  // Files may be in the middle of a rotation.
  return [ApiConnectionError, CredentialsError, KubeconfigError].some((kind) => error instanceof kind);
}

function keyOf({ regarding, type, reason, action, note }: ClusterEvent): string {
  const { kind, namespace, name } = regarding;
  return JSON.stringify([kind, namespace, name, type, reason, action, note]);
}

/** Writes events to the log when there is no API server. */
export class LoggedEvents implements EventRecorder {
  constructor(private readonly logger: Logger) {}

  record({ regarding, type, reason, note, name: shared }: ClusterEvent): void {
    const { kind, namespace, name } = regarding;
    const facts = { kind, name: namespace === '' ? name : `${namespace}/${name}`, reason, note };
    // What all nodes have is not a problem of this one.
    this.logger[type === 'Warning' && shared === undefined ? 'warn' : 'info'](facts, 'event');
  }

  /** Nothing is queued. */
  async stop(): Promise<void> {}
}

/** The API server rejects longer notes. Bytes. */
const LONGEST_NOTE = 1024;
const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

/** How often an event happened since it was first posted. */
interface EventSeries {
  /** Includes the first time. */
  readonly count: number;
  /** Milliseconds since the epoch. */
  readonly lastObserved: number;
}

/** The namespace of an event: that of its object, or `default`. */
function eventNamespace({ regarding }: ClusterEvent): string {
  return regarding.namespace || 'default';
}

/** The name that it has, or a unique one: that of the object and a time in nanoseconds (docs/internals/spec/server.md §1.5). */
export function eventName({ regarding, name: given }: ClusterEvent, nanoseconds: bigint): string {
  const name = given ?? `${regarding.name}.${nanoseconds.toString(16)}`;
  return name.length <= 253 && SUBDOMAIN.test(name) ? name : randomUUID();
}

/** The event as an object of `events.k8s.io/v1`. */
export function eventObject(
  event: ClusterEvent,
  name: string,
  reportingInstance: string,
  time: number,
  series?: EventSeries,
): EventsV1Event {
  const { kind, namespace, name: regarded } = event.regarding;
  return {
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    metadata: { name, namespace: eventNamespace(event) },
    eventTime: new V1MicroTime(time),
    reportingController: 'kube-proxy',
    reportingInstance,
    action: event.action,
    reason: event.reason,
    regarding: { apiVersion: 'v1', kind, ...(namespace && { namespace }), name: regarded },
    note: shortened(event.note),
    type: event.type,
    ...(series && { series: seriesObject(series) }),
  };
}

function seriesObject({ count, lastObserved }: EventSeries): EventsV1EventSeries {
  return { count, lastObservedTime: new V1MicroTime(lastObserved) };
}

function shortened(note: string): string {
  if (Buffer.byteLength(note) <= LONGEST_NOTE) return note;
  const ellipsis = '…';
  const room = LONGEST_NOTE - Buffer.byteLength(ellipsis);
  return `${new TextDecoder().decode(Buffer.from(note).subarray(0, room)).replace(/\uFFFD+$/, '')}${ellipsis}`;
}
