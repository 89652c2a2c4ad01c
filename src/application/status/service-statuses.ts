import type { ServicePortKey } from '../../domain/model/service-port-name.js';
import type { IpFamily } from '../../domain/net/ip-family.js';

/** Where a service port stands on its way into the kernel. Times are milliseconds since the epoch. */
export type ServiceStatus =
  | { readonly state: 'pending'; readonly since: number }
  | {
      readonly state: 'programmed';
      readonly since: number;
      /** What is otherwise than asked for, such as a frontend that another service port holds. */
      readonly note?: string;
    }
  | { readonly state: 'failed'; readonly since: number; readonly reason: string; readonly attempts: number };

/** The status of every service port, per family. */
export class ServiceStatuses {
  private readonly byFamily: Record<IpFamily, Map<ServicePortKey, ServiceStatus>> = {
    IPv4: new Map(),
    IPv6: new Map(),
  };
  private readonly failedKeys: Record<IpFamily, Set<ServicePortKey>> = { IPv4: new Set(), IPv6: new Set() };

  get(family: IpFamily, key: ServicePortKey): ServiceStatus | undefined {
    return this.byFamily[family].get(key);
  }

  set(family: IpFamily, key: ServicePortKey, status: ServiceStatus): void {
    this.byFamily[family].set(key, status);
    if (status.state === 'failed') this.failedKeys[family].add(key);
    else this.failedKeys[family].delete(key);
  }

  remove(family: IpFamily, key: ServicePortKey): void {
    this.byFamily[family].delete(key);
    this.failedKeys[family].delete(key);
  }

  /** Service ports of the family that have a status. */
  keys(family: IpFamily): readonly ServicePortKey[] {
    return [...this.byFamily[family].keys()];
  }

  /** Service ports that could not be programmed, with the reason. */
  failures(family: IpFamily): readonly { readonly key: ServicePortKey; readonly reason: string }[] {
    return [...this.failedKeys[family]].flatMap((key) => {
      const status = this.byFamily[family].get(key);
      return status?.state === 'failed' ? [{ key, reason: status.reason }] : [];
    });
  }
}
