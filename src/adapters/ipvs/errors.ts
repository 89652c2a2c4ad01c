import { NetlinkError } from '../netlink/errors.js';

/** The kernel has no IPVS, or its module is not loaded. */
export class IpvsUnavailableError extends NetlinkError {
  constructor() {
    super(
      'the kernel has no netlink family IPVS: load its module (modprobe ip_vs), or use a kernel that has it',
    );
  }
}

/** A device has the name of ours, but another type. */
export class ForeignDeviceError extends Error {
  constructor(name: string, kind: string) {
    super(
      `the device ${name} ${kind === '' ? 'is no virtual device' : `has type ${kind}`}, not dummy: rename or remove it`,
    );
    this.name = 'ForeignDeviceError';
  }
}

/** Sets with names of ours have another type or other options. They cannot be replaced while rules use them. */
export class ForeignIpSetError extends Error {
  constructor(foreign: readonly { readonly name: string; readonly description: string }[]) {
    const list = foreign.map(({ name, description }) => `${name} (${description})`).join(', ');
    super(`other IP sets have the names that mode ipvs needs: ${list}; remove them with: ipset destroy NAME`);
    this.name = 'ForeignIpSetError';
  }
}

/** The kernel could not take something at that moment, whatever it was; the rest was written. */
export class IpvsTemporaryError extends Error {
  constructor(reason: string) {
    super(`the kernel cannot take everything now: ${reason}`);
    this.name = 'IpvsTemporaryError';
  }
}

/** Sets cannot be made; without them no rule can be written. */
export class IpSetsNotMadeError extends Error {
  constructor(names: readonly string[], reason: string) {
    super(`cannot make the IP sets ${names.join(', ')}: ${reason}`);
    this.name = 'IpSetsNotMadeError';
  }
}
