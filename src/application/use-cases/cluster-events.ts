import type { ObjectReference, ObjectSink, ResourceKind } from '../ports/cluster-source.js';
import type { OnEndpoints } from './on-endpoints.js';
import type { OnEndpointSlice } from './on-endpoint-slice.js';
import type { OnNode } from './on-node.js';
import type { OnService } from './on-service.js';
import type { OnServiceCidr } from './on-service-cidr.js';

/** What to do with objects of one kind. */
export interface ObjectUseCase {
  applied(object: unknown): void;
  deleted(reference: ObjectReference): void;
}

/**
 * Where sources deliver objects: hands each to the use case of its kind and counts them. Services and slices are known
 * once both kinds are listed (EndpointSlice is also reported by sources that deliver Endpoints instead).
 */
export class ClusterEvents implements ObjectSink {
  private readonly useCases: Readonly<Record<ResourceKind, ObjectUseCase>>;
  private readonly listed = new Set<ResourceKind>();
  private handled = 0;

  constructor(
    onService: OnService,
    onEndpointSlice: OnEndpointSlice,
    onEndpoints: OnEndpoints,
    onNode: OnNode,
    onServiceCidr: OnServiceCidr,
    private readonly needed: readonly ResourceKind[],
    private readonly initialised: () => void,
  ) {
    this.useCases = {
      Service: onService,
      EndpointSlice: onEndpointSlice,
      Endpoints: onEndpoints,
      Node: onNode,
      ServiceCIDR: onServiceCidr,
    };
  }

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
    if (this.missing.length === 0) this.initialised();
  }
}
