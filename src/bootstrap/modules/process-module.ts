import { NetlinkConntrack } from '../../adapters/conntrack/netlink-conntrack.js';
import { SystemClock } from '../../adapters/process/system-clock.js';
import { LiveConfiguration } from '../../application/configuration/live-configuration.js';
import type { Logger } from '../../application/ports/logger.js';
import type { IpFamily } from '../../domain/net/ip-family.js';
import type { CommandLine } from '../configuration/command-line.js';
import {
  CLOCK,
  COMMAND_LINE,
  CONNTRACK,
  FAMILIES,
  LIVE_CONFIGURATION,
  LOCAL_ADDRESSES,
  LOGGER,
} from '../identifiers.js';
import { provide, provideValue, type Module } from '../injection/provider.js';
import { NodeAddresses } from '../node/local-addresses.js';

/** What this process and machine are: command line, log, time, addresses, tracked connections. */
export function processModule(
  commandLine: CommandLine,
  families: readonly IpFamily[],
  logger: Logger,
): Module {
  return [
    provideValue(COMMAND_LINE, commandLine),
    provide(LIVE_CONFIGURATION, {}, () => new LiveConfiguration(commandLine)),
    provideValue(FAMILIES, families),
    provideValue(LOGGER, logger),
    provide(CLOCK, {}, () => new SystemClock()),
    provide(
      LOCAL_ADDRESSES,
      { clock: CLOCK, logger: LOGGER },
      ({ clock, logger }) => new NodeAddresses(clock, logger),
    ),
    provide(CONNTRACK, {}, () => new NetlinkConntrack()),
  ];
}
