/** The object of an event. */
export interface EventSubject {
  readonly kind: 'Node' | 'Service';
  /** "" for cluster-scoped kinds. */
  readonly namespace: string;
  readonly name: string;
}

/** An event for operators, as `kubectl get events` shows it (docs/internals/spec/server.md §1.5). */
export interface ClusterEvent {
  readonly regarding: EventSubject;
  readonly type: 'Normal' | 'Warning';
  /** The reason in one word: `FailedToStartServiceHealthcheck`. */
  readonly reason: string;
  /** The attempted action: `Listen`. */
  readonly action: string;
  /** For people; may be empty. */
  readonly note: string;
  /** Missing: a new one. With a name, all nodes record the same event, and the API server keeps the first. */
  readonly name?: string;
}

/**
 * Reports events to the cluster. A call returns immediately and never throws. Events recorded while the cluster is unreachable are
 * delivered later, or given up after a while with a log line: events are news, never state. Recording the same event again
 * makes it a series.
 */
export interface EventRecorder {
  record(event: ClusterEvent): void;
}
