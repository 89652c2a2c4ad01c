import type {
  ClusterSource,
  ObjectReference,
  ObjectSink,
  ResourceKind,
  SourceStatus,
} from '../../application/ports/cluster-source.js';

const KINDS: readonly ResourceKind[] = ['Service', 'EndpointSlice', 'Endpoints', 'Node', 'ServiceCIDR'];

/**
 * A source driven by a test or an embedder: objects given before the start are delivered at the start, in order; later
 * ones immediately; nothing after the stop.
 */
export class ScriptedSource implements ClusterSource {
  private readonly script: ((sink: ObjectSink) => void)[] = [];
  private sink: ObjectSink | undefined;
  private stopped = false;
  readonly problems: readonly string[] = [];
  /** The result of `status`. */
  statuses: readonly SourceStatus[] = [];

  /** With an error given, `start` rejects with it. */
  constructor(private readonly startError?: Error) {}

  async start(sink: ObjectSink, signal: AbortSignal): Promise<void> {
    if (this.startError) throw this.startError;
    if (signal.aborted || this.stopped) return;
    signal.addEventListener('abort', () => void this.stop(), { once: true });
    this.sink = sink;
    for (const step of this.script.splice(0)) step(sink);
  }

  async stop(): Promise<void> {
    this.stopped = true;
    this.sink = undefined;
  }

  status(): readonly SourceStatus[] {
    return this.statuses;
  }

  /** Whether it has been started and not stopped. */
  get running(): boolean {
    return this.sink !== undefined;
  }

  apply(kind: ResourceKind, ...objects: unknown[]): this {
    for (const object of objects) this.say((sink) => sink.applied(kind, object));
    return this;
  }

  delete(kind: ResourceKind, reference: ObjectReference): this {
    return this.say((sink) => sink.deleted(kind, reference));
  }

  /** All kinds if none is named. */
  synced(...kinds: ResourceKind[]): this {
    for (const kind of kinds.length > 0 ? kinds : KINDS) this.say((sink) => sink.synced(kind));
    return this;
  }

  private say(step: (sink: ObjectSink) => void): this {
    if (this.sink) step(this.sink);
    else if (!this.stopped) this.script.push(step);
    return this;
  }
}
