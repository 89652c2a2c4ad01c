import type { Logger } from '../application/ports/logger.js';
import type { IpFamily } from '../domain/net/ip-family.js';
import type { CommandLine } from './configuration/command-line.js';
import { Container } from './injection/container.js';
import { clusterModule } from './modules/cluster-module.js';
import { eventsModule } from './modules/events-module.js';
import { nodeModule } from './modules/node-module.js';
import { processModule } from './modules/process-module.js';
import { syncModule } from './modules/sync-module.js';
import type { ReadingModule, ReadingParts } from './parts/reading-parts.js';

/** Puts together what reads objects and serves nothing. */
export function composeReader(
  commandLine: CommandLine,
  families: readonly IpFamily[],
  logger: Logger,
  replacements: ReadingModule = {},
): Container<ReadingParts> {
  return Container.create<ReadingParts>({
    ...readingModules(commandLine, families, logger),
    served: () => [],
    ...replacements,
  });
}

export function readingModules(commandLine: CommandLine, families: readonly IpFamily[], logger: Logger) {
  return {
    ...processModule(commandLine, families, logger),
    ...clusterModule,
    ...nodeModule,
    ...eventsModule,
    ...syncModule,
  };
}
