import type { Logger } from '../../application/ports/logger.js';
import type { CommandLine } from '../configuration/command-line.js';
import { allModes } from '../modes/choose-mode.js';

/** Use case Cleanup: removes everything that the proxy ever makes, in any mode. 1 when something could not be removed. */
export async function cleanup(commandLine: CommandLine, logger: Logger): Promise<number> {
  let failures = 0;
  for (const mode of allModes(commandLine, logger)) {
    try {
      await mode.cleanUp();
    } catch (error) {
      failures++;
      logger.error({ mode: mode.name, error }, 'encountered an error while tearing down rules');
    }
  }
  return failures === 0 ? 0 : 1;
}
