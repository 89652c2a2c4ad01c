import type { ObjectReference, ObjectSink, ResourceKind } from '../ports/cluster-source.js';

/** Handles objects of one kind. */
export interface ObjectUseCase {
  applied(object: unknown): void;
  deleted(reference: ObjectReference): void;
}

/**
 * Where sources deliver objects: passes each to the use case of its kind and counts them. Sources that deliver Endpoints
 * report EndpointSlice as synced as well.
 */
export class ClusterEvents implements ObjectSink {
  private readonly listed = new Set<ResourceKind>();
  private handled = 0;
  private resolveComplete!: () => void;
  /** Resolves when the needed lists have arrived. */
  readonly complete = new Promise<void>((resolve) => (this.resolveComplete = resolve));

  /**
   * @param needed the kinds to wait for
   * @param initialized called when all needed lists have arrived, and on each later list
   */
  constructor(
    private readonly useCases: Readonly<Record<ResourceKind, ObjectUseCase>>,
    private readonly needed: readonly ResourceKind[],
    private readonly initialized: () => void,
  ) {}

  /** Objects and deletions handled since start. */
  get eventCount(): number {
    return this.handled;
  }

  /** Kinds whose first list has not arrived. */
  get missing(): readonly ResourceKind[] {
    return this.needed.filter((kind) => !this.listed.has(kind));
  }

  applied(kind: ResourceKind, object: unknown): void {
    this.handled++;
    this.useCases[kind].applied(object);
  }

  deleted(kind: ResourceKind, reference: ObjectReference): void {
    this.handled++;
    this.useCases[kind].deleted(reference);
  }

  synced(kind: ResourceKind): void {
    this.listed.add(kind);
    if (this.missing.length > 0) return;
    this.resolveComplete();
    this.initialized();
  }
}
