import { readEndpointSlice } from '../../domain/decode/read-endpoint-slice.js';
import type { EndpointSlice } from '../../domain/model/endpoint-slice.js';
import { serviceKey, type ServiceKey } from '../../domain/model/service-port-name.js';
import type { ClusterState, SliceChange } from '../../domain/state/cluster-state.js';
import type { PendingChanges } from '../../domain/state/pending-changes.js';
import type { ObjectReference } from '../ports/cluster-source.js';
import type { SyncObserver } from '../ports/sync-observer.js';
import type { IgnoredParts } from './annotation-events.js';
import type { ObjectUseCase } from './cluster-events.js';
import type { FamilyLoops } from './family-loops.js';
import { rawName, type ObjectReports } from './object-reports.js';

/** Use cases OnEndpointSliceAdd, OnEndpointSliceUpdate and OnEndpointSliceDelete. */
export class OnEndpointSlice implements ObjectUseCase {
  constructor(
    private readonly state: ClusterState,
    private readonly loops: FamilyLoops,
    private readonly reports: ObjectReports,
    private readonly observer: SyncObserver,
    private readonly nodeName: string,
    /** Trigger times before this are older than the process and ignored. Milliseconds since the epoch. */
    private readonly startTime: number,
    private readonly ignoredParts: IgnoredParts = () => {},
  ) {}

  applied(object: unknown): void {
    const { value, ignored, problems, notes = [] } = readEndpointSlice(object, this.nodeName);
    // Names of valid objects need no quoting.
    const name = value ? `${value.namespace}/${value.name}` : rawName(object);
    const isNews = this.reports.report('EndpointSlice', name, [...problems, ...notes], value !== undefined);
    if (isNews && value)
      this.ignoredParts(serviceKey(value.namespace, value.service), `EndpointSlice ${name}`, notes);
    if (value) this.applySlice(value);
    if (ignored !== undefined) {
      const [namespace = '', slice = ''] = name.split('/');
      this.noteRemoved(
        ignored === 'unlabeled'
          ? this.state.leaveSlice(namespace, slice)
          : this.state.removeSlice(namespace, slice),
      );
    }
  }

  deleted({ namespace, name }: ObjectReference): void {
    this.reports.forget('EndpointSlice', serviceKey(namespace, name));
    this.removeSlice(namespace, name);
  }

  applySlice(slice: EndpointSlice): void {
    const { triggerTime } = slice;
    this.note(this.state.applySlice(slice), (pending, service) => {
      if (triggerTime !== undefined && triggerTime > this.startTime) pending.triggered(service, triggerTime);
    });
  }

  removeSlice(namespace: string, name: string): void {
    this.noteRemoved(this.state.removeSlice(namespace, name));
  }

  private noteRemoved(changes: readonly SliceChange[]): void {
    this.note(changes, (pending, service) => pending.forgetTriggers(service));
  }

  /** @param more what else to note for each Service */
  private note(
    changes: readonly SliceChange[],
    more: (pending: PendingChanges, service: ServiceKey) => void,
  ): void {
    this.observer.endpointSliceEvent(changes.length > 0);
    for (const { service, family } of changes)
      this.loops.note([family], (pending) => {
        pending.serviceChanged(service);
        more(pending, service);
      });
  }
}
