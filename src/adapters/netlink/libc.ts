import { endianness } from 'node:os';
import { errorMessage } from '../../application/error-message.js';
import { loadCLibrary, type CLibrary } from '../process/c-library.js';
import { NetlinkUnavailableError } from './errors.js';

/** The calls that a netlink socket needs. */
export type Libc = Omit<CLibrary, 'getsockopt' | 'flock' | 'sendto' | 'setrlimit' | 'exit'>;

/** Throws NetlinkUnavailableError. */
export function loadLibc(): Libc {
  if (process.platform !== 'linux')
    throw new NetlinkUnavailableError(`this is ${process.platform}, not Linux`);
  if (endianness() !== 'LE') throw new NetlinkUnavailableError('only little-endian machines are supported');
  try {
    return loadCLibrary();
  } catch (error) {
    throw new NetlinkUnavailableError(errorMessage(error), { cause: error });
  }
}
