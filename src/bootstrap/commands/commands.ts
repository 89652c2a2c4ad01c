import { ManifestFiles } from '../../adapters/manifests/manifest-files.js';
import type { PinoLogger } from '../../adapters/process/pino-logger.js';
import { Cleanup } from '../../application/use-cases/cleanup.js';
import type { CommandLine } from '../configuration/command-line.js';
import { allModes } from '../modes/choose-mode.js';
import { initOnly } from './init-only.js';
import { once } from './once.js';
import { run } from './run.js';

/** Does what the flags ask for without a subcommand, and returns the exit code of the program. */
export async function runProxy(commandLine: CommandLine, logger: PinoLogger): Promise<number> {
  if (commandLine.cleanup) {
    await new Cleanup(allModes(commandLine, logger), logger).run();
    return 0;
  }
  if (commandLine.initOnly) return initOnly(commandLine, logger);
  // Before anything of this machine is touched.
  ManifestFiles.open(commandLine.manifests);
  return commandLine.once ? once(commandLine, logger) : run(commandLine, logger);
}
