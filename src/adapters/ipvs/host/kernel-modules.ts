import { execa } from 'execa';
import type { Logger } from '../../../application/ports/logger.js';

/**
 * Has the kernel load modules. That it cannot, or that there is no modprobe here, is only told: they may be built in, or
 * be loaded already.
 */
export async function loadModules(names: readonly string[], logger: Logger): Promise<void> {
  const { exitCode, stderr, shortMessage } = await execa('modprobe', ['-a', ...names], {
    stdin: 'ignore',
    reject: false,
    timeout: 10_000,
  });
  if (exitCode === 0) return;
  const reason = stderr?.trim() || shortMessage;
  logger.warn({ modules: names, reason }, 'kernel modules cannot be loaded from here');
}
