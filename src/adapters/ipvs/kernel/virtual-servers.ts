import type {
  CountedRealServer,
  RealServer,
  VirtualServer,
  VirtualServerId,
} from '../../../domain/ipvs/virtual-server.js';
import type { IpFamily } from '../../../domain/net/ip-family.js';

/** A virtual server as the kernel lists it. */
export interface ListedVirtualServer extends VirtualServer {
  readonly realServers: readonly CountedRealServer[];
}

/** One change. Real servers are reached by masquerading and have no thresholds. */
export type VirtualServerStep =
  | { readonly kind: 'add' | 'set'; readonly server: VirtualServer }
  | { readonly kind: 'delete'; readonly server: VirtualServerId }
  | { readonly kind: 'add-real' | 'set-real'; readonly server: VirtualServerId; readonly real: RealServer }
  | {
      readonly kind: 'delete-real';
      readonly server: VirtualServerId;
      readonly real: Pick<RealServer, 'address' | 'port'>;
    };

/** Undefined when a step was done, otherwise why the kernel refused it. */
export type StepOutcome = Error | undefined;

/** Seconds; 0 leaves a timeout as it is. */
export interface IpvsTimeouts {
  readonly tcp: number;
  readonly tcpFin: number;
  readonly udp: number;
}

/**
 * The virtual servers of the kernel in this network namespace, including those of other programs. Virtual
 * servers by firewall mark have no address: they are neither listed nor changed. Overlapping calls wait for each other. A call
 * rejects with a NetlinkError when the kernel does not answer.
 */
export interface VirtualServers {
  /** All virtual servers of a family and their real servers. */
  list(family: IpFamily, signal?: AbortSignal): Promise<readonly ListedVirtualServer[]>;

  /** One virtual server with its real servers; undefined when there is none. Costs nothing for all the others. */
  find(server: VirtualServerId): Promise<ListedVirtualServer | undefined>;

  /** The real servers of one virtual server; none when there is no such virtual server. */
  realServers(server: VirtualServerId): Promise<readonly CountedRealServer[]>;

  /**
   * Takes the steps in order, in as few messages as the kernel allows. A refused step does not stop the others. Not
   * idempotent: adding what is there is refused (EEXIST), and so is setting or deleting what is not there (ESRCH, ENOENT).
   * @returns the outcome of each step
   */
  apply(steps: readonly VirtualServerStep[]): Promise<readonly StepOutcome[]>;

  /** Whether the kernel has the scheduler, or can load its module. Leaves nothing else behind. */
  hasScheduler(name: string): Promise<boolean>;

  setTimeouts(timeouts: IpvsTimeouts): Promise<void>;

  /** Idempotent; later calls fail. */
  close(): void;
}
