import { execa } from 'execa';
import { readFile } from 'node:fs/promises';
import type { Logger } from '../../application/ports/logger.js';

/** Every connection needs two, every service port one (docs/spec/userspace.md §1). */
const OPEN_FILES = 64_000;

/**
 * Raises the limit of open files where it is low, which needs CAP_SYS_RESOURCE. Node itself uses all that the hard limit
 * grants. A failure is only logged: fewer connections work as well.
 */
export async function raiseOpenFileLimit(logger: Logger, limits = '/proc/self/limits'): Promise<void> {
  const hard = /^Max open files +\S+ +(\S+)/m.exec(await readFile(limits, 'utf8').catch(() => ''))?.[1];
  if (hard === undefined || hard === 'unlimited' || Number(hard) >= OPEN_FILES) return;
  const limit = `--nofile=${OPEN_FILES}:${OPEN_FILES}`;
  const { exitCode, stderr, shortMessage } = await execa('prlimit', ['--pid', String(process.pid), limit], {
    reject: false,
  });
  if (exitCode === 0) return;
  logger.warn(
    { limit: Number(hard), wanted: OPEN_FILES, reason: stderr || shortMessage },
    'the limit of open files is low, so few connections are possible; raise it (ulimit -Hn)',
  );
}
