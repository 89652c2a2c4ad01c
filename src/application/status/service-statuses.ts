import { serviceOf, type ServiceKey, type ServicePortKey } from '../../domain/model/service-port-name.js';
import type { IpFamily } from '../../domain/net/ip-family.js';
import type { DegradedStatus, FailedStatus, PortStatus, PortProblem } from './port-status.js';

/** The outcome of an attempt to program a service port. */
export type ServiceStatus = Exclude<PortStatus, { readonly state: 'pending' }>;

type ProblemState = 'failed' | 'degraded';
const PROBLEM_STATES: readonly ProblemState[] = ['failed', 'degraded'];

/** The status of every service port, per family. One that was never attempted has none. */
export class ServiceStatuses {
  private readonly byFamily: Record<IpFamily, Map<ServicePortKey, ServiceStatus>> = {
    IPv4: new Map(),
    IPv6: new Map(),
  };
  private readonly problems: Record<ProblemState, Record<IpFamily, Set<ServicePortKey>>> = {
    failed: { IPv4: new Set(), IPv6: new Set() },
    degraded: { IPv4: new Set(), IPv6: new Set() },
  };

  /**
   * @param failed called on each failure
   * @param degraded called when one begins to be degraded, or is so for another reason
   * @param changed called for each status that is set or removed
   */
  constructor(
    private readonly failed: (family: IpFamily, key: ServicePortKey, status: FailedStatus) => void = () => {},
    private readonly degraded: (
      family: IpFamily,
      key: ServicePortKey,
      status: DegradedStatus,
    ) => void = () => {},
    private readonly changed: (service: ServiceKey) => void = () => {},
  ) {}

  get(family: IpFamily, key: ServicePortKey): ServiceStatus | undefined {
    return this.byFamily[family].get(key);
  }

  set(family: IpFamily, key: ServicePortKey, status: ServiceStatus): void {
    const former = this.byFamily[family].get(key);
    this.byFamily[family].set(key, status);
    this.changed(serviceOf(key));
    const { state } = status;
    for (const trouble of PROBLEM_STATES)
      if (state === trouble) this.problems[trouble][family].add(key);
      else this.problems[trouble][family].delete(key);
    if (state === 'failed') this.failed(family, key, status);
    if (state === 'degraded' && !(former?.state === 'degraded' && former.reason === status.reason))
      this.degraded(family, key, status);
  }

  remove(family: IpFamily, key: ServicePortKey): void {
    this.byFamily[family].delete(key);
    this.changed(serviceOf(key));
    for (const trouble of PROBLEM_STATES) this.problems[trouble][family].delete(key);
  }

  /** Service ports of the family that have a status. */
  keys(family: IpFamily): readonly ServicePortKey[] {
    return [...this.byFamily[family].keys()];
  }

  /** Service ports that failed to be programmed. Costs what failed. */
  failures(family: IpFamily): readonly PortProblem[] {
    return this.in('failed', family);
  }

  /** Service ports that are programmed, but not as their Services request. Costs what is degraded. */
  degradations(family: IpFamily): readonly PortProblem[] {
    return this.in('degraded', family);
  }

  /** The number of service ports in each state. Cheap. */
  counts(family: IpFamily): {
    readonly programmed: number;
    readonly degraded: number;
    readonly failed: number;
  } {
    const failed = this.problems.failed[family].size;
    const degraded = this.problems.degraded[family].size;
    return { programmed: this.byFamily[family].size - degraded - failed, degraded, failed };
  }

  private in(trouble: ProblemState, family: IpFamily): readonly PortProblem[] {
    return [...this.problems[trouble][family]].flatMap((key) => {
      const status = this.byFamily[family].get(key);
      if (status?.state !== trouble) return [];
      const conflicts = status.state === 'degraded' ? status.conflicts : undefined;
      const { reason, sinceTime, limitedBy } = status;
      return [
        {
          servicePort: key,
          reason,
          sinceTime,
          ...(conflicts && { conflicts }),
          ...(limitedBy && { limitedBy }),
        },
      ];
    });
  }
}
