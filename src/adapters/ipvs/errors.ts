import { NetlinkError } from '../netlink/errors.js';

/** The kernel has no IPVS, or has not loaded it. */
export class IpvsUnavailableError extends NetlinkError {
  constructor() {
    super(
      'the kernel does not know the netlink family IPVS: load its module (modprobe ip_vs), or run a kernel that has it',
    );
  }
}
