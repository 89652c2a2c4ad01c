import type { Container } from 'inversify';
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { LoggedEvents } from '../../adapters/events/logged-events.js';
import { PinoLogger } from '../../adapters/process/pino-logger.js';
import { NO_WAIT } from '../../application/node/await-node.js';
import type { Backend } from '../../application/ports/backend.js';
import type { Clock } from '../../application/ports/clock.js';
import type { ClusterSource } from '../../application/ports/cluster-source.js';
import type { Conntrack } from '../../application/ports/conntrack.js';
import type { LocalAddresses } from '../../application/ports/local-addresses.js';
import type { Logger } from '../../application/ports/logger.js';
import { completeCommandLine, validateCommandLine, type CommandLine } from '../configuration/command-line.js';
import { logSettings } from '../configuration/log-settings.js';
import { withMode } from '../configuration/proxy-configuration.js';
import {
  CLOCK,
  CLUSTER_SOURCE,
  CONNTRACK,
  CONNTRACK_RECONCILERS,
  EVENT_RECORDER,
  LOCAL_ADDRESSES,
  NODE_PATIENCE,
  SERVICE_HEALTH_CHECKS,
} from '../identifiers.js';
import { chooseMode } from '../modes/choose-mode.js';
import type { OpenMode } from '../modes/open-mode.js';
import { composeProxy } from '../proxy.js';
import { backendMode } from './backend-mode.js';
import { EmbeddedProxy } from './embedded-proxy.js';

/** What an embedder brings. Everything that is left out is what the program itself has. */
export interface ProxyOptions {
  /**
   * What forwards: one backend for each family that is served. Without any, a mode of this package, chosen by
   * `--proxy-mode` among the flags.
   */
  readonly backends?: readonly Backend[];
  /** Where objects come from. Left out: manifests or an API server, as the flags say. */
  readonly source?: ClusterSource;
  readonly clock?: Clock;
  /** Left out: lines on standard error. */
  readonly logger?: Logger;
  /**
   * From where stale UDP flows are removed. Left out: the kernel's table; with backends of one's own, none, since only
   * those who translate packets by the kernel have flows there.
   */
  readonly conntrack?: Conntrack;
  readonly localAddresses?: LocalAddresses;
  /** Flags as on the command line: `['--hostname-override=node-1', '--cluster-cidr=10.244.0.0/16']`. */
  readonly flags?: readonly string[];
  /** Has the last word before anything is made: may bind any other part under its identifier. */
  readonly rebind?: (container: Container) => void;
}

/**
 * Puts a proxy together; nothing runs before its `start`. Unlike the program it leaves the process and the machine alone:
 * it listens to no signal, sets no sysctl, removes no rules of other modes, and serves health and metrics only where the
 * flags, or the configuration file that they name, ask for it. With backends of one's own it opens no health check node
 * ports either, and settings that differ between modes are those of mode nftables, unless `--proxy-mode` says otherwise.
 * @throws UsageError, ConfigurationError when the flags are not right
 * @throws when a mode of this package is to be used and cannot be on this machine
 */
export async function createProxy(options: ProxyOptions = {}): Promise<EmbeddedProxy> {
  const asked = readFlags(options.flags ?? []);
  const logger = options.logger ?? PinoLogger.open(logSettings(asked.configuration));
  for (const warning of asked.warnings) logger.warn({}, warning);
  const { commandLine, mode } = options.backends
    ? withBackends(asked, options.backends)
    : await openChosenMode(asked, logger);
  const container = composeProxy(commandLine, mode, logger);
  bindParts(container, options, logger);
  return new EmbeddedProxy(container, mode.families);
}

function readFlags(flags: readonly string[]): CommandLine {
  const commandLine = completeCommandLine(flags, {
    readFile: (path) => readFileSync(path, 'utf8'),
    hostname,
  });
  validateCommandLine(commandLine);
  if (commandLine.configFile !== undefined) return commandLine;
  const { configuration } = commandLine;
  const asked = (flag: string, address: string) => (commandLine.flags.has(flag) ? address : '');
  return {
    ...commandLine,
    configuration: {
      ...configuration,
      healthzBindAddress: asked('healthz-bind-address', configuration.healthzBindAddress),
      metricsBindAddress: asked('metrics-bind-address', configuration.metricsBindAddress),
    },
  };
}

interface Settled {
  readonly commandLine: CommandLine;
  readonly mode: OpenMode;
}

function withBackends(asked: CommandLine, backends: readonly Backend[]): Settled {
  const { configuration } = asked;
  const name = configuration.mode === '' || configuration.mode === 'auto' ? 'nftables' : configuration.mode;
  return {
    commandLine: { ...asked, configuration: withMode(configuration, name) },
    mode: backendMode(name, backends),
  };
}

async function openChosenMode(asked: CommandLine, logger: Logger): Promise<Settled> {
  const { commandLine, mode } = await chooseMode(asked, logger);
  return { commandLine, mode: await mode.open() };
}

function bindParts(container: Container, options: ProxyOptions, logger: Logger): void {
  const { backends, source, clock, conntrack, localAddresses, rebind } = options;
  if (clock) container.rebind(CLOCK).toConstantValue(clock);
  if (localAddresses) container.rebind(LOCAL_ADDRESSES).toConstantValue(localAddresses);
  if (source) {
    container.rebind(CLUSTER_SOURCE).toConstantValue(source);
    container.rebind(NODE_PATIENCE).toConstantValue(NO_WAIT);
    container.rebind(EVENT_RECORDER).toConstantValue(new LoggedEvents(logger));
  }
  if (conntrack) container.rebind(CONNTRACK).toConstantValue(conntrack);
  else if (backends) container.rebind(CONNTRACK_RECONCILERS).toConstantValue([]);
  if (backends) container.rebind(SERVICE_HEALTH_CHECKS).toConstantValue([]);
  rebind?.(container);
}
