import { readEndpoints } from '../../domain/decode/read-endpoints.js';
import { serviceKey, type ServiceKey } from '../../domain/model/service-port-name.js';
import type { ObjectReference } from '../ports/cluster-source.js';
import type { ObjectUseCase } from './cluster-events.js';
import { rawName, type ObjectReports } from './object-reports.js';
import type { OnEndpointSlice } from './on-endpoint-slice.js';

/** Use case OnEndpoints, for hand-written Endpoints and old clusters: they are converted to equivalent slices. */
export class OnEndpoints implements ObjectUseCase {
  /** Names of the slices made of each Endpoints object. */
  private readonly slices = new Map<ServiceKey, readonly string[]>();

  constructor(
    private readonly onEndpointSlice: OnEndpointSlice,
    private readonly reports: ObjectReports,
    private readonly nodeName: string,
  ) {}

  applied(object: unknown): void {
    const { value, problems } = readEndpoints(object, this.nodeName);
    const key = rawName(object);
    this.reports.report('Endpoints', key, problems, value !== undefined);
    if (!value) return;
    const names = value.map((slice) => slice.name);
    for (const slice of value) this.onEndpointSlice.applySlice(slice);
    this.removeOthers(key, names);
    this.slices.set(key, names);
  }

  deleted({ namespace, name }: ObjectReference): void {
    const key = serviceKey(namespace, name);
    this.reports.forget('Endpoints', key);
    this.removeOthers(key, []);
    this.slices.delete(key);
  }

  private removeOthers(key: ServiceKey, kept: readonly string[]): void {
    const [namespace = ''] = key.split('/');
    for (const name of this.slices.get(key) ?? []) {
      if (!kept.includes(name)) this.onEndpointSlice.removeSlice(namespace, name);
    }
  }
}
