import { SystemClock } from '../../adapters/process/system-clock.js';
import { LiveConfiguration } from '../../application/live-configuration.js';
import type { Logger } from '../../application/ports/logger.js';
import type { IpFamily } from '../../domain/net/ip-family.js';
import type { CommandLine } from '../configuration/command-line.js';
import { NodeAddresses } from '../node/local-addresses.js';
import type { ReadingModule } from '../parts/reading-parts.js';

/** What this process and machine are: command line, log, time, addresses. */
export function processModule(commandLine: CommandLine, families: readonly IpFamily[], logger: Logger) {
  return {
    commandLine: () => commandLine,
    live: () => new LiveConfiguration(commandLine),
    families: () => families,
    logger: () => logger,
    clock: () => new SystemClock(),
    localAddresses: ({ clock, logger }) => new NodeAddresses(clock, logger),
  } satisfies ReadingModule;
}
