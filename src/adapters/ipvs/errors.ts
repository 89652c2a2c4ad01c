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

/** Sets that have the name of one of ours cannot be used, and cannot be replaced while rules hold on to them. */
export class ForeignIpSetError extends Error {
  constructor(foreign: readonly { readonly name: string; readonly description: string }[]) {
    const list = foreign.map(({ name, description }) => `${name} (${description})`).join(', ');
    super(`IP sets of another kind stand in the way: ${list}; remove them with: ipset destroy NAME`);
    this.name = 'ForeignIpSetError';
  }
}

/** The sets could not be made; without them no rule can be written. */
export class IpSetsNotMadeError extends Error {
  constructor(names: readonly string[], reason: string) {
    super(`IP sets ${names.join(', ')} could not be made: ${reason}`);
    this.name = 'IpSetsNotMadeError';
  }
}
