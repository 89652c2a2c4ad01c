import type { Logger } from '../../application/ports/logger.js';
import { Cleanup } from '../../application/use-cases/cleanup.js';
import type { CommandLine } from '../configuration/command-line.js';
import { allModes } from '../modes/choose-mode.js';

/** The commands that put parts of a proxy together. They are loaded at once: a start reads fewer files. */
export { initOnly } from './init-only.js';
export { once } from './once.js';
export { plan } from './plan.js';
export { plannedDiff } from './planned-diff.js';
export { run } from './run.js';
export { traceManifests } from './trace-manifests.js';

/** Removes the rules of all modes. */
export async function cleanup(commandLine: CommandLine, logger: Logger): Promise<number> {
  await new Cleanup(allModes(commandLine, logger), logger).run();
  return 0;
}
