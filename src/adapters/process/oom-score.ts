import { writeFile } from 'node:fs/promises';
import type { Clock } from '../../application/ports/clock.js';
import type { Logger } from '../../application/ports/logger.js';

const ATTEMPTS = 2;
const PAUSE = 100;

/**
 * Tells the kernel how readily to kill this process when memory runs out: -1000 never, 1000 first. Tried twice; a kernel
 * without the file is not asked again. What fails is logged: services work without (spec/server.md §1.3).
 */
export async function setOomScore(
  score: number,
  clock: Clock,
  logger: Logger,
  path = '/proc/self/oom_score_adj',
): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await writeFile(path, String(score), { flag: 'r+' });
    } catch (error) {
      if (attempt < ATTEMPTS && (error as NodeJS.ErrnoException).code !== 'ENOENT') {
        await new Promise<void>((resolve) => void clock.after(PAUSE, resolve));
        continue;
      }
      logger.error({ score, error }, 'the OOM score could not be set; the kernel may kill the proxy earlier');
      return;
    }
  }
}
