import type { Logger } from '../../../application/ports/logger.js';

/** Loads kernel modules. A failure is only logged: they may be built in, or loaded already. */
export async function loadModules(names: readonly string[], logger: Logger): Promise<void> {
  // Loaded where it is needed only: mode nftables starts no program.
  const { execa } = await import('execa');
  const { exitCode, stderr, shortMessage } = await execa('modprobe', ['-a', ...names], {
    stdin: 'ignore',
    reject: false,
    timeout: 10_000,
  });
  if (exitCode === 0) return;
  const reason = stderr?.trim() || shortMessage;
  logger.warn({ modules: names, reason }, 'cannot load kernel modules');
}
