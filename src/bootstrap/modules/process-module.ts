import { ContainerModule } from 'inversify';
import { SystemClock } from '../../adapters/process/system-clock.js';
import { LiveConfiguration } from '../../application/configuration/live-configuration.js';
import type { Logger } from '../../application/ports/logger.js';
import type { IpFamily } from '../../domain/net/ip-family.js';
import type { CommandLine } from '../configuration/command-line.js';
import {
  CLOCK,
  COMMAND_LINE,
  FAMILIES,
  LIVE_CONFIGURATION,
  LOCAL_ADDRESSES,
  LOGGER,
} from '../identifiers.js';
import { openLocalAddresses } from '../node/local-addresses.js';

/** What this process and machine are: its command line, log, time and addresses. */
export function processModule(
  commandLine: CommandLine,
  families: readonly IpFamily[],
  logger: Logger,
): ContainerModule {
  return new ContainerModule(({ bind }) => {
    bind(COMMAND_LINE).toConstantValue(commandLine);
    bind(LIVE_CONFIGURATION).toConstantValue(new LiveConfiguration(commandLine));
    bind(FAMILIES).toConstantValue(families);
    bind(LOGGER).toConstantValue(logger);
    bind(CLOCK).toConstantValue(new SystemClock());
    bind(LOCAL_ADDRESSES)
      .toDynamicValue((context) => openLocalAddresses(context.get(CLOCK), context.get(LOGGER)))
      .inSingletonScope();
  });
}
