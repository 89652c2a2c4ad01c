import type { IpFamily } from '../../../domain/net/ip-family.js';
import type { StepOutcome } from './virtual-servers.js';

/** The device that holds the addresses of services, so that the kernel takes their packets for its own (docs/spec/ipvs.md §3). */
export const SERVICE_DEVICE = 'kube-ipvs0';

export interface AddressStep {
  readonly kind: 'add' | 'remove';
  /** Canonical; its length is that of the whole address. */
  readonly address: string;
}

/**
 * The addresses on `kube-ipvs0`. One device for both families. Calls may overlap, they wait for each other. A call
 * rejects with a NetlinkError when the kernel cannot be reached at all.
 */
export interface ServiceAddresses {
  /** Makes the device, of type dummy and down, unless it is there. Rejects when another type of device has the name. */
  ensureDevice(): Promise<void>;

  /** The addresses of a family on the device, without link-local ones of IPv6; undefined when there is no device. */
  list(family: IpFamily): Promise<readonly string[] | undefined>;

  /** Does the steps in their order. To add what is there, or remove what is not, is no error. */
  apply(steps: readonly AddressStep[]): Promise<readonly StepOutcome[]>;

  /** Removes the device and with it all its addresses. That there is none is fine; another type of device is an error. */
  removeDevice(): Promise<void>;

  /** Idempotent; later calls fail. */
  close(): void;
}
