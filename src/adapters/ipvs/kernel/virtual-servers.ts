import type { CountedRealServer, RealServer, VirtualServer } from '../../../domain/ipvs/virtual-server.js';
import type { IpFamily } from '../../../domain/net/ip-family.js';

/** What the kernel tells virtual servers apart by. */
export type VirtualServerId = Pick<VirtualServer, 'address' | 'protocol' | 'port'>;

/** A virtual server as the kernel lists it. */
export interface ListedVirtualServer extends VirtualServer {
  readonly realServers: readonly CountedRealServer[];
}

/** One thing to change. Real servers are reached by masquerading and have no thresholds. */
export type VirtualServerStep =
  | { readonly kind: 'add' | 'set'; readonly server: VirtualServer }
  | { readonly kind: 'delete'; readonly server: VirtualServerId }
  | { readonly kind: 'add-real' | 'set-real'; readonly server: VirtualServerId; readonly real: RealServer }
  | {
      readonly kind: 'delete-real';
      readonly server: VirtualServerId;
      readonly real: Pick<RealServer, 'address' | 'port'>;
    };

/** How a step went: undefined when it was done, otherwise why the kernel refused it. */
export type StepOutcome = Error | undefined;

/** Seconds; 0 leaves a timeout as it is. */
export interface IpvsTimeouts {
  readonly tcp: number;
  readonly tcpFin: number;
  readonly udp: number;
}

/**
 * The virtual servers of the kernel in this network namespace, those of other software included. Servers by firewall
 * mark have no address: they are neither listed nor touched. Calls may overlap, they wait for each other. A call
 * rejects with a NetlinkError when the kernel cannot be reached at all.
 */
export interface VirtualServers {
  /** All virtual servers of a family and their real servers. */
  list(family: IpFamily, signal?: AbortSignal): Promise<readonly ListedVirtualServer[]>;

  /** The real servers of one virtual server; none when there is no such virtual server. */
  realServers(server: VirtualServerId): Promise<readonly CountedRealServer[]>;

  /**
   * Does the steps in their order, in as few messages as the kernel allows. A step that is refused does not keep the
   * others from being done. The outcomes stand where the steps stand. Not idempotent: to add what is there is refused
   * (EEXIST), to set or delete what is not there too (ESRCH, ENOENT).
   */
  apply(steps: readonly VirtualServerStep[]): Promise<readonly StepOutcome[]>;

  /** Whether the kernel has the scheduler, or can load it. Leaves no trace but its module. */
  hasScheduler(name: string): Promise<boolean>;

  setTimeouts(timeouts: IpvsTimeouts): Promise<void>;

  /** Removes all virtual servers of both families, whoever made them. */
  flush(): Promise<void>;

  /** Idempotent; later calls fail. */
  close(): void;
}
