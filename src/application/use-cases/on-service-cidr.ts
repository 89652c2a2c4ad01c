import { readServiceCidr } from '../../domain/decode/read-service-cidr.js';
import { IP_FAMILIES } from '../../domain/net/ip-family.js';
import type { ClusterState } from '../../domain/state/cluster-state.js';
import type { ObjectReference } from '../ports/cluster-source.js';
import type { ObjectUseCase } from './cluster-events.js';
import type { FamilyLoops } from './family-loops.js';
import { rawName, type ObjectReports } from './object-reports.js';

/** Use case OnServiceCIDR: the ranges in which unused cluster IPs are dropped. Takes effect with the next sync. */
export class OnServiceCidr implements ObjectUseCase {
  constructor(
    private readonly state: ClusterState,
    private readonly loops: FamilyLoops,
    private readonly reports: ObjectReports,
  ) {}

  applied(object: unknown): void {
    const { value, problems } = readServiceCidr(object);
    this.reports.report('ServiceCIDR', rawName(object), problems, value !== undefined);
    if (value && this.state.applyServiceCidr(value)) this.changed();
  }

  deleted({ name }: ObjectReference): void {
    this.reports.forget('ServiceCIDR', name);
    if (this.state.removeServiceCidr(name)) this.changed();
  }

  private changed(): void {
    this.loops.note(IP_FAMILIES, (pending) => pending.nodeChanged());
  }
}
