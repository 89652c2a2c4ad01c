import { LoggedEvents } from '../../adapters/events/event-recorder.js';
import { PinoLogger } from '../../adapters/process/pino-logger.js';
import { NO_WAIT } from '../../application/node/await-node.js';
import type { Backend } from '../../application/ports/backend.js';
import type { Clock } from '../../application/ports/clock.js';
import type { ClusterSource } from '../../application/ports/cluster-source.js';
import type { Conntrack } from '../../application/ports/node/conntrack.js';
import type { EventRecorder } from '../../application/ports/event-recorder.js';
import type { LocalAddresses } from '../../application/ports/node/local-addresses.js';
import type { Logger } from '../../application/ports/logger.js';
import type { SyncObserver } from '../../application/ports/sync-observer.js';
import { parseCommandLine, type CommandLine } from '../configuration/command-line.js';
import { logSettings } from '../configuration/log-settings.js';
import { withMode } from '../configuration/proxy-configuration.js';
import { chooseMode } from '../modes/choose-mode.js';
import type { OpenMode } from '../modes/open-mode.js';
import type { Module } from '../parts/proxy-parts.js';
import { composeProxy } from '../proxy.js';
import { backendMode } from './backend-mode.js';
import { EmbeddedProxy } from './embedded-proxy.js';

/** The parts that an embedder replaces. What is left out is what the program itself has. */
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
   * The table from which stale UDP flows are removed. Left out: the kernel's; with backends of one's own, none, since only
   * backends that have the kernel translate packets have flows there.
   */
  readonly conntrack?: Conntrack;
  readonly localAddresses?: LocalAddresses;
  /** Flags as on the command line: `['--hostname-override=node-1', '--cluster-cidr=10.244.0.0/16']`. */
  readonly flags?: readonly string[];
  /**
   * Where events for operators go. Its `stop`, if it has one, is called when the proxy stops. Left out: the API server; with
   * manifests or a source of one's own, the log.
   */
  readonly events?: EventRecorder & { stop?(): Promise<void> };
  /** Hears what the sync loops do. It replaces the proxy's own, so health and metrics then know nothing of syncs. */
  readonly syncObserver?: SyncObserver;
}

/**
 * Puts a proxy together; nothing runs before its `start`. Unlike the program it leaves the process and the machine alone:
 * it handles no signals, sets no sysctls but those of its mode, removes no rules of other modes, and serves health and metrics only if the
 * flags, or the configuration file that they name, ask for it. With backends of one's own it opens no health-check node
 * ports either, listens for no node ports on localhost, and settings that differ between modes are those of mode nftables, unless `--proxy-mode` says otherwise.
 * @throws UsageError, ConfigurationError when the flags are invalid
 * @throws when the mode that the flags choose cannot be used on this machine
 */
export async function createProxy(options: ProxyOptions = {}): Promise<EmbeddedProxy> {
  const asked = readFlags(options.flags ?? []);
  const logger = options.logger ?? PinoLogger.open(logSettings(asked.configuration));
  for (const warning of asked.warnings) logger.warn({}, warning);
  const { commandLine, mode } = options.backends
    ? withBackends(asked, options.backends)
    : await openChosenMode(asked, logger);
  return new EmbeddedProxy(composeProxy(commandLine, mode, logger, replacements(options, logger)));
}

function readFlags(flags: readonly string[]): CommandLine {
  const commandLine = parseCommandLine(flags);
  if (commandLine.config !== '') return commandLine;
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

interface ChosenParts {
  readonly commandLine: CommandLine;
  readonly mode: OpenMode;
}

function withBackends(asked: CommandLine, backends: readonly Backend[]): ChosenParts {
  const { configuration } = asked;
  const name = configuration.mode === '' || configuration.mode === 'auto' ? 'nftables' : configuration.mode;
  return {
    commandLine: { ...asked, configuration: withMode(configuration, name) },
    mode: backendMode(name, backends),
  };
}

async function openChosenMode(asked: CommandLine, logger: Logger): Promise<ChosenParts> {
  const { commandLine, mode } = await chooseMode(asked, logger);
  return { commandLine, mode: await mode.open() };
}

/** What the embedder brings, in the place of the program's parts. */
function replacements(options: ProxyOptions, logger: Logger): Module {
  const { backends, source, clock, conntrack, localAddresses, events, syncObserver } = options;
  const ownEvents = events ?? (source && new LoggedEvents(logger));
  return {
    ...(clock && { clock: () => clock }),
    ...(localAddresses && { localAddresses: () => localAddresses }),
    ...(source && {
      source: () => source,
      serviceLookup: () => undefined,
      nodeTimeouts: () => NO_WAIT,
    }),
    ...(ownEvents && { eventRecorder: () => ownEvents }),
    ...(syncObserver && { syncObserver: () => syncObserver }),
    ...((conntrack ?? backends) && { conntrack: () => conntrack }),
    ...(backends && {
      forwardingObstacles: () => undefined,
      healthCheckListener: () => undefined,
      localhostRelay: () => undefined,
    }),
  };
}
