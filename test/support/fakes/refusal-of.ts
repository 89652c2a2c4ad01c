import { constants } from 'node:os';
import { NetlinkRequestError } from '../../../src/adapters/netlink/errors.js';

/** As the kernel rejects what was tried, if the reason is its name of an error. */
export function rejectionOf(attempt: string, reason: string): Error {
  const errno = constants.errno[reason as keyof typeof constants.errno];
  return errno === undefined ? new Error(`${attempt}: ${reason}`) : new NetlinkRequestError(attempt, errno);
}
