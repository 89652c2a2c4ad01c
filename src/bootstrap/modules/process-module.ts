import { ContainerModule } from 'inversify';
import { InterfaceAddresses } from '../../adapters/process/interface-addresses.js';
import { SystemClock } from '../../adapters/process/system-clock.js';
import { LiveConfiguration } from '../../application/configuration/live-configuration.js';
import type { LocalAddresses } from '../../application/ports/local-addresses.js';
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

/** What this process and machine are: its command line, log, time and addresses. */
export function processModule(
  commandLine: CommandLine,
  families: readonly IpFamily[],
  logger: Logger,
  localAddresses: LocalAddresses = new InterfaceAddresses(),
): ContainerModule {
  return new ContainerModule(({ bind }) => {
    bind(COMMAND_LINE).toConstantValue(commandLine);
    bind(LIVE_CONFIGURATION).toConstantValue(new LiveConfiguration(commandLine));
    bind(FAMILIES).toConstantValue(families);
    bind(LOGGER).toConstantValue(logger);
    bind(CLOCK).toConstantValue(new SystemClock());
    bind(LOCAL_ADDRESSES).toConstantValue(localAddresses);
  });
}
