import { tooManyFrontends } from '../../domain/decode/frontends-limit.js';
import { readService } from '../../domain/decode/read-service.js';
import { serviceKey, type ServiceKey } from '../../domain/model/service-port-name.js';
import type { IpFamily } from '../../domain/net/ip-family.js';
import type { ClusterState } from '../../domain/state/cluster-state.js';
import type { ObjectReference } from '../ports/cluster-source.js';
import type { SyncObserver } from '../ports/sync-observer.js';
import type { IgnoredParts } from './annotation-events.js';
import type { ObjectUseCase } from './cluster-events.js';
import type { FamilyLoops } from './family-loops.js';
import { rawName, type ObjectReports } from './object-reports.js';

/** Use cases OnServiceAdd, OnServiceUpdate and OnServiceDelete. A Service that becomes invalid, or too large, keeps its last valid version. */
export class OnService implements ObjectUseCase {
  constructor(
    private readonly state: ClusterState,
    private readonly loops: FamilyLoops,
    private readonly reports: ObjectReports,
    private readonly observer: SyncObserver,
    /** How many frontends one Service may have; 0 for any number. */
    private readonly frontendsLimit: number,
    private readonly ignoredParts: IgnoredParts = () => {},
  ) {}

  applied(object: unknown): void {
    const name = rawName(object);
    const { value: read, ignored, problems, notes = [] } = readService(object);
    const excess = read && tooManyFrontends(read, this.frontendsLimit);
    const value = excess === undefined ? read : undefined;
    const isNews = this.reports.report(
      'Service',
      name,
      [...(excess === undefined ? [] : [excess]), ...problems, ...notes],
      value !== undefined,
    );
    if (isNews) this.ignoredParts(name, `Service ${name}`, notes);
    if (value) this.note(name, this.state.applyService(value));
    else this.note(name, ignored === undefined ? [] : this.state.leaveService(name, ignored));
  }

  deleted({ namespace, name }: ObjectReference): void {
    const key = serviceKey(namespace, name);
    this.reports.forget('Service', key);
    this.note(key, this.state.removeService(key));
  }

  private note(key: ServiceKey, families: readonly IpFamily[]): void {
    this.observer.serviceEvent(key, families.length > 0);
    this.loops.note(families, (pending) => pending.serviceChanged(key));
  }
}
