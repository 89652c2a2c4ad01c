/** Effects on this process itself: its OOM score, its memory and its exit. */

import { readFile, writeFile } from 'node:fs/promises';
import { Session } from 'node:inspector/promises';
import { delay } from '../../application/retries.js';
import type { Clock } from '../../application/ports/clock.js';
import type { Logger } from '../../application/ports/logger.js';
import { cLibraryIfAny } from './c-library.js';

const ATTEMPTS = 2;
/** Milliseconds. */
const PAUSE = 100;
/** Lowering it needs CAP_SYS_RESOURCE, which a container without privileges does not have by design. */
const NOT_PERMITTED = ['EACCES', 'EPERM'];

/** The kubelet's value for critical pods: equivalent to the usual -999. */
const KUBELET_SCORE = -997;

/**
 * Sets how readily the kernel kills this process when memory runs out: -1000 never, 1000 first. Writes nothing if it is set
 * already, and logs nothing if the kubelet has set it and only the permission is missing. Tries twice, unless retrying cannot help: a
 * kernel without the file, or a missing permission. Failures are logged, because Services work without it (docs/internals/spec/server.md
 * §1.3).
 */
export async function setOomScore(
  score: number,
  clock: Clock,
  logger: Logger,
  path = '/proc/self/oom_score_adj',
): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    let present: number | undefined;
    try {
      present = Number(await readFile(path, 'utf8'));
      if (present === score) return;
      return await writeFile(path, String(score), { flag: 'r+' });
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException;
      if (NOT_PERMITTED.includes(code)) {
        if (present === KUBELET_SCORE) return;
        logger.info({ wanted: score, present }, 'the OOM score stays unchanged: no permission to set it');
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

/**
 * Ends the process, regardless of its threads. `process.exit` waits for threads, such as a read from a file system that
 * hangs, or a name lookup. Listeners of `exit` are called as usual. Without access to the C library this is `process.exit`.
 */
export function exitAtOnce(code: number): never {
  const library = cLibraryIfAny();
  if (library) {
    process.emit('exit', code);
    library.exit(code);
  }
  process.exit(code);
}

/**
 * Collects garbage, and returns free memory to the system. It blocks the event loop: 30 ms with 50 MB in use. Of 139 MB with 10,000
 * Services, 17 MB were free memory that the allocator kept.
 */
export async function collectGarbage(): Promise<void> {
  const session = new Session();
  session.connect();
  try {
    await session.post('HeapProfiler.collectGarbage');
  } finally {
    session.disconnect();
  }
  trimMemory();
}

/** Returns free memory of the allocator to the system, in one or two milliseconds. */
export function trimMemory(): void {
  cLibraryIfAny()?.trimMemory?.(0);
}
