import { randomUUID } from 'node:crypto';
import type { EventsV1Event, EventsV1EventSeries } from '@kubernetes/client-node';
import { V1MicroTime } from '@kubernetes/client-node/dist/types.js';
import type { ClusterEvent } from '../../application/ports/event-recorder.js';

/** The API server rejects longer notes. Bytes. */
const LONGEST_NOTE = 1024;
const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

/** How often an event happened since it was first posted. */
export interface EventSeries {
  /** Includes the first time. */
  readonly count: number;
  /** Milliseconds since the epoch. */
  readonly lastObserved: number;
}

/** The namespace of an event: that of its object, or `default`. */
export function eventNamespace({ regarding }: ClusterEvent): string {
  return regarding.namespace || 'default';
}

/** A unique name: that of the object and a time in nanoseconds (docs/spec/server.md §1.5). */
export function eventName({ regarding }: ClusterEvent, nanoseconds: bigint): string {
  const name = `${regarding.name}.${nanoseconds.toString(16)}`;
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

export function seriesObject({ count, lastObserved }: EventSeries): EventsV1EventSeries {
  return { count, lastObservedTime: new V1MicroTime(lastObserved) };
}

function shortened(note: string): string {
  if (Buffer.byteLength(note) <= LONGEST_NOTE) return note;
  const ellipsis = '…';
  const room = LONGEST_NOTE - Buffer.byteLength(ellipsis);
  return `${new TextDecoder().decode(Buffer.from(note).subarray(0, room)).replace(/\uFFFD+$/, '')}${ellipsis}`;
}
