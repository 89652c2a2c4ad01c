import type { ServicePortKey } from '../../domain/model/service-port-name.js';
import type { IpFamily } from '../../domain/net/ip-family.js';

/** The outcome of the last attempt to program a service port. Times are milliseconds since the epoch. */
export type ServiceStatus = ProgrammedStatus | FailedStatus;

export interface ProgrammedStatus {
  readonly state: 'programmed';
  readonly since: number;
  /** How it deviates from what was asked for, such as a frontend that another service port holds. */
  readonly note?: string;
}

export interface FailedStatus {
  readonly state: 'failed';
  /** The first of the consecutive failures. */
  readonly since: number;
  readonly reason: string;
  readonly attempts: number;
}

/** A service port that failed to be programmed. */
export interface FailedPort {
  readonly key: ServicePortKey;
  readonly reason: string;
  readonly since: number;
}

/** The status of every service port, per family. One that was never attempted has none. */
export class ServiceStatuses {
  private readonly byFamily: Record<IpFamily, Map<ServicePortKey, ServiceStatus>> = {
    IPv4: new Map(),
    IPv6: new Map(),
  };
  private readonly failedKeys: Record<IpFamily, Set<ServicePortKey>> = { IPv4: new Set(), IPv6: new Set() };

  /** @param failed called on each failure */
  constructor(
    private readonly failed: (family: IpFamily, key: ServicePortKey, status: FailedStatus) => void = () => {},
  ) {}

  get(family: IpFamily, key: ServicePortKey): ServiceStatus | undefined {
    return this.byFamily[family].get(key);
  }

  set(family: IpFamily, key: ServicePortKey, status: ServiceStatus): void {
    this.byFamily[family].set(key, status);
    if (status.state === 'failed') {
      this.failedKeys[family].add(key);
      this.failed(family, key, status);
    } else this.failedKeys[family].delete(key);
  }

  remove(family: IpFamily, key: ServicePortKey): void {
    this.byFamily[family].delete(key);
    this.failedKeys[family].delete(key);
  }

  /** Service ports of the family that have a status. */
  keys(family: IpFamily): readonly ServicePortKey[] {
    return [...this.byFamily[family].keys()];
  }

  /** Service ports that failed to be programmed. Costs what failed. */
  failures(family: IpFamily): readonly FailedPort[] {
    return [...this.failedKeys[family]].flatMap((key) => {
      const status = this.byFamily[family].get(key);
      return status?.state === 'failed' ? [{ key, reason: status.reason, since: status.since }] : [];
    });
  }

  /** The number of service ports in each state. Cheap. */
  counts(family: IpFamily): { readonly programmed: number; readonly failed: number } {
    const failed = this.failedKeys[family].size;
    return { programmed: this.byFamily[family].size - failed, failed };
  }
}
