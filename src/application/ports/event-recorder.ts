/** What an event is about. */
export interface EventSubject {
  readonly kind: 'Node' | 'Service';
  /** "" for cluster-scoped kinds. */
  readonly namespace: string;
  readonly name: string;
}

/** Something that operators should know, as `kubectl get events` shows it (docs/spec/server.md §1.5). */
export interface ClusterEvent {
  readonly regarding: EventSubject;
  readonly type: 'Normal' | 'Warning';
  /** Why, in a word: `FailedToStartServiceHealthcheck`. */
  readonly reason: string;
  /** What was being done: `Listen`. */
  readonly action: string;
  /** For people; may be empty. */
  readonly note: string;
}

/**
 * Tells the cluster what happened here. A call returns at once and never throws; what is recorded before the cluster can
 * be reached is delivered later. Delivery is tried for a while and then given up with a log line: events are news, never
 * state. Recording the same event again is allowed and makes it a series.
 */
export interface EventRecorder {
  record(event: ClusterEvent): void;
}
