import { readFile, writeFile } from 'node:fs/promises';
import { delay } from '../../application/delay.js';
import type { Clock } from '../../application/ports/clock.js';
import type { Logger } from '../../application/ports/logger.js';

const ATTEMPTS = 2;
/** Milliseconds. */
const PAUSE = 100;
/** Lowering it needs CAP_SYS_RESOURCE, which an unprivileged container does not have. */
const NOT_PERMITTED = ['EACCES', 'EPERM'];

/**
 * Sets how readily the kernel kills this process when memory runs out: -1000 never, 1000 first. Writes nothing if it is set
 * already. Tries twice, unless retrying cannot help: a kernel without the file, or a missing permission. Failures are logged,
 * because Services work without it (docs/spec/server.md §1.3).
 */
export async function setOomScore(
  score: number,
  clock: Clock,
  logger: Logger,
  path = '/proc/self/oom_score_adj',
): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      if (Number(await readFile(path, 'utf8')) === score) return;
      return await writeFile(path, String(score), { flag: 'r+' });
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException;
      if (NOT_PERMITTED.includes(code)) {
        logger.info({ score, error }, 'no permission to set the OOM score; keeping it as it is');
        return;
      }
      if (attempt === ATTEMPTS || code === 'ENOENT') {
        logger.warn({ score, error }, 'cannot set the OOM score; the kernel may kill the proxy earlier');
        return;
      }
      await delay(clock, PAUSE);
    }
  }
}
