import { readFile } from 'node:fs/promises';
import { errorMessage } from '../../application/error-message.js';
import type { Logger } from '../../application/ports/logger.js';
import { errnoName } from '../netlink/errors.js';
import { loadCLibrary, type CLibrary } from '../process/c-library.js';

/** Every connection needs two, every service port one (docs/internals/spec/userspace.md §1). */
const OPEN_FILES = 64_000;
/** Of setrlimit(2). */
const RLIMIT_NOFILE = 7;

/**
 * Raises the limit of open files where it is low, which needs CAP_SYS_RESOURCE. Node itself uses all that the hard limit
 * grants. A failure is only logged: fewer connections work as well.
 */
export async function raiseOpenFileLimit(
  logger: Logger,
  limits = '/proc/self/limits',
  load: () => Pick<CLibrary, 'setrlimit' | 'errno'> = loadCLibrary,
): Promise<void> {
  const hard = /^Max open files +\S+ +(\S+)/m.exec(await readFile(limits, 'utf8').catch(() => ''))?.[1];
  if (hard === undefined || hard === 'unlimited' || Number(hard) >= OPEN_FILES) return;
  const reason = setLimit(load);
  if (reason === undefined) return;
  logger.warn(
    { limit: Number(hard), wanted: OPEN_FILES, reason },
    'the limit of open files is low, so few connections are possible; raise it (ulimit -Hn) or grant CAP_SYS_RESOURCE',
  );
}

/** Sets both limits, the soft and the hard one. Returns why that failed. */
function setLimit(load: () => Pick<CLibrary, 'setrlimit' | 'errno'>): string | undefined {
  try {
    const { setrlimit, errno } = load();
    const both = new BigUint64Array([BigInt(OPEN_FILES), BigInt(OPEN_FILES)]);
    return setrlimit(RLIMIT_NOFILE, Buffer.from(both.buffer)) === 0 ? undefined : errnoName(errno());
  } catch (error) {
    return errorMessage(error);
  }
}
