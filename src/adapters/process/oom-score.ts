import { readFile, writeFile } from 'node:fs/promises';
import type { Clock } from '../../application/ports/clock.js';
import type { Logger } from '../../application/ports/logger.js';

const ATTEMPTS = 2;
const PAUSE = 100;
/** Lowering it needs CAP_SYS_RESOURCE, which a container without privileges does not have. */
const NOT_PERMITTED = ['EACCES', 'EPERM'];

/**
 * Tells the kernel how readily to kill this process when memory runs out: -1000 never, 1000 first. Nothing is written when
 * it is so already. Tried twice, but for what another try does not change: a kernel without the file, a right that is
 * missing. What fails is logged: services work without (docs/spec/server.md §1.3).
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
        logger.info({ score, error }, 'the OOM score stays as it is: setting it is not permitted here');
        return;
      }
      if (attempt === ATTEMPTS || code === 'ENOENT') {
        logger.warn(
          { score, error },
          'the OOM score could not be set; the kernel may kill the proxy earlier',
        );
        return;
      }
      await new Promise<void>((resolve) => void clock.after(PAUSE, resolve));
    }
  }
}
