/** The ports to IPVS: virtual servers and service addresses, and their errors. */

import type {
  CountedRealServer,
  RealServer,
  VirtualServer,
  VirtualServerId,
} from '../../domain/ipvs/virtual-server.js';
import { NamedError } from '../../domain/model/named-error.js';
import type { IpFamily } from '../../domain/net/ip-family.js';
import { NetlinkError } from '../netlink/errors.js';

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

/** Undefined when a step was done, otherwise why the kernel rejected it. */
export type StepOutcome = Error | undefined;

/** Seconds; 0 leaves a timeout unchanged. */
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

/** The device with the addresses of services, so that the kernel takes their packets as its own (docs/internals/spec/ipvs.md §3). */
export const SERVICE_DEVICE = 'kube-ipvs0';

export interface AddressStep {
  readonly kind: 'add' | 'remove';
  /** Canonical, without a prefix length. */
  readonly address: string;
}

/**
 * The addresses on `kube-ipvs0`. One device serves both families. Overlapping calls wait for each other. A call rejects with a
 * NetlinkError when the kernel does not answer.
 */
export interface ServiceAddresses {
  /** Makes the device, of type dummy and down, unless it is there. @throws ForeignDeviceError */
  ensureDevice(): Promise<void>;

  /** The addresses of a family on the device, without link-local ones; undefined when there is no device. */
  list(family: IpFamily): Promise<readonly string[] | undefined>;

  /** Takes the steps in order. Adding an address that is there, or removing one that is not, is no error. */
  apply(steps: readonly AddressStep[]): Promise<readonly StepOutcome[]>;

  /** Removes the device with all its addresses, if it is there. @throws ForeignDeviceError */
  removeDevice(): Promise<void>;

  /** Idempotent; later calls fail. */
  close(): void;
}

/** The kernel has no IPVS, or its module is not loaded. */
export class IpvsUnavailableError extends NetlinkError {
  constructor() {
    super(
      'the kernel has no netlink family IPVS: load its module (modprobe ip_vs), or use a kernel that has it',
    );
  }
}

/** A device has the name of ours, but another type. */
export class ForeignDeviceError extends NamedError {
  constructor(name: string, kind: string) {
    super(
      `the device ${name} ${kind === '' ? 'is no virtual device' : `has type ${kind}`}, not dummy: rename or remove it`,
    );
  }
}

/** Sets with names of ours have another type or other options. They cannot be replaced while rules use them. */
export class ForeignIpSetError extends NamedError {
  constructor(foreign: readonly { readonly name: string; readonly description: string }[]) {
    const list = foreign.map(({ name, description }) => `${name} (${description})`).join(', ');
    super(`other IP sets have the names that IPVS mode needs: ${list}; remove them with: ipset destroy NAME`);
  }
}

/** A temporary failure of some steps, independent of their content; the rest was written. */
export class IpvsTemporaryError extends NamedError {
  constructor(reason: string) {
    super(`the kernel cannot accept all changes now: ${reason}`);
  }
}

/** Sets cannot be made; without them no rule can be written. */
export class IpSetsNotMadeError extends NamedError {
  constructor(names: readonly string[], reason: string) {
    super(`cannot create the IP sets ${names.join(', ')}: ${reason}`);
  }
}
