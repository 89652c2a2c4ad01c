import { NetlinkError } from '../netlink/errors.js';

/** The kernel has no IPVS, or has not loaded it. */
export class IpvsUnavailableError extends NetlinkError {
  constructor() {
    super(
      'the kernel does not know the netlink family IPVS: load its module (modprobe ip_vs), or run a kernel that has it',
    );
  }
}

/** A device has the name of ours, but is of another type. */
export class ForeignDeviceError extends Error {
  constructor(name: string, kind: string) {
    super(
      `the device ${name} is ${kind === '' ? 'no virtual device' : `of type ${kind}`}, not dummy: rename or remove it`,
    );
    this.name = 'ForeignDeviceError';
  }
}
