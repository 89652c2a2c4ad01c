import type { Logger } from '../../application/ports/logger.js';
import type { CommandLine } from '../configuration/command-line.js';
import { allModes } from '../modes/choose-mode.js';

/**
 * Use case Cleanup: removes everything that the proxy ever makes, in any mode. A mode that cannot be removed, or checked
 * for, does not stop the others (docs/spec/server.md §1.1, §12).
 * @throws when something could not be removed or checked for; what it was has been logged
 */
export async function cleanup(commandLine: CommandLine, logger: Logger): Promise<number> {
  let failures = 0;
  const unseen = new Set<string>();
  for (const mode of allModes(commandLine, logger)) {
    try {
      for (const place of await mode.cleanUp()) unseen.add(place);
    } catch (error) {
      failures++;
      logger.error({ mode: mode.name, error }, 'cannot remove rules');
    }
  }
  for (const problem of unseen) logger.error({ problem }, 'rules may remain');
  if (failures + unseen.size > 0) throw new Error('encountered an error while tearing down rules');
  return 0;
}
