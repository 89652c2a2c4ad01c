import type { IpFamily } from '../../../domain/net/ip-family.js';
import type { StepOutcome } from './virtual-servers.js';

/** The device with the addresses of services, so that the kernel takes their packets as its own (docs/spec/ipvs.md §3). */
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
