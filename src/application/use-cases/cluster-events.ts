import type { Clock, Timer } from '../ports/clock.js';
import type { ObjectReference, ObjectSink, ResourceKind } from '../ports/cluster-source.js';
import { EndpointSliceHandler, EndpointsHandler } from './endpoint-slice-handler.js';
import { NodeHandler } from './node-handler.js';
import type { HandlerParts, ObjectHandler } from './object-handler.js';
import { ServiceCidrHandler, ServiceHandler } from './service-handler.js';

/** Kinds that the first sync waits for. */
export interface AwaitedKinds {
  /** However long it takes. */
  readonly needed: readonly ResourceKind[];
  /** After those, for a moment: without them rules are right, but a restart would rewrite what they decide. */
  readonly wanted: readonly ResourceKind[];
}

/** How long the first sync waits for wanted kinds. Milliseconds. */
const WANTED_FOR = 1_000;

/**
 * Where sources deliver objects: passes each to the handler of its kind and counts them. Sources that deliver Endpoints
 * report EndpointSlice as synced as well.
 */
export class ClusterEvents implements ObjectSink {
  private readonly handlers: Readonly<Record<ResourceKind, ObjectHandler>>;
  private readonly listed = new Set<ResourceKind>();
  private handled = 0;
  /** Runs, or has run, while wanted kinds are missing. */
  private wait: Timer | undefined;
  private resolveComplete!: () => void;
  /** Resolves when the awaited lists have arrived. */
  readonly complete = new Promise<void>((resolve) => (this.resolveComplete = resolve));

  /** @param initialized called when the awaited lists have arrived; perhaps more than once */
  constructor(
    parts: HandlerParts,
    private readonly awaited: AwaitedKinds,
    private readonly clock: Clock,
    private readonly initialized: () => void,
  ) {
    const sliceHandler = new EndpointSliceHandler(parts);
    this.handlers = {
      Service: new ServiceHandler(parts),
      EndpointSlice: sliceHandler,
      Endpoints: new EndpointsHandler(parts, sliceHandler),
      Node: new NodeHandler(parts),
      ServiceCIDR: new ServiceCidrHandler(parts),
    };
  }

  /** Objects and deletions handled since start. */
  get eventCount(): number {
    return this.handled;
  }

  /** Needed kinds whose first list has not arrived. */
  get missing(): readonly ResourceKind[] {
    return this.awaited.needed.filter((kind) => !this.listed.has(kind));
  }

  applied(kind: ResourceKind, object: unknown): void {
    this.handled++;
    this.handlers[kind].applied(object);
  }

  deleted(kind: ResourceKind, reference: ObjectReference): void {
    this.handled++;
    this.handlers[kind].deleted(reference);
  }

  synced(kind: ResourceKind): void {
    this.handlers[kind].synced?.();
    this.listed.add(kind);
    if (this.missing.length > 0) return;
    if (this.awaited.wanted.every((one) => this.listed.has(one))) this.arrived();
    else this.wait ??= this.clock.after(WANTED_FOR, () => this.arrived());
  }

  /** Waits no longer, once the source delivers nothing any more. Idempotent. */
  stop(): void {
    this.wait?.cancel();
  }

  private arrived(): void {
    this.wait?.cancel();
    this.resolveComplete();
    this.initialized();
  }
}
