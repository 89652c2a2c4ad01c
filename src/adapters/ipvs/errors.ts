import { NetlinkError } from '../netlink/errors.js';
import { NamedError } from '../../domain/model/named-error.js';

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
    super(`other IP sets have the names that mode ipvs needs: ${list}; remove them with: ipset destroy NAME`);
  }
}

/** The kernel could not take something at that moment, whatever it was; the rest was written. */
export class IpvsTemporaryError extends NamedError {
  constructor(reason: string) {
    super(`the kernel cannot take everything now: ${reason}`);
  }
}

/** Sets cannot be made; without them no rule can be written. */
export class IpSetsNotMadeError extends NamedError {
  constructor(names: readonly string[], reason: string) {
    super(`cannot make the IP sets ${names.join(', ')}: ${reason}`);
  }
}
