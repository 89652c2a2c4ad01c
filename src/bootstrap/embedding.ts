import { NetlinkConntrack } from '../adapters/conntrack/netlink-conntrack.js';
import { LoggedEvents } from '../adapters/events/event-recorder.js';
import { PinoLogger } from '../adapters/process/pino-logger.js';
import { ADDRESS_OPTIONAL, NO_WAIT } from '../application/node/await-node.js';
import type { Backend } from '../application/ports/backend.js';
import type { Clock } from '../application/ports/clock.js';
import type { ClusterSource, ObjectSink } from '../application/ports/cluster-source.js';
import type { EventRecorder } from '../application/ports/event-recorder.js';
import type { Logger } from '../application/ports/logger.js';
import type { Conntrack } from '../application/ports/node/conntrack.js';
import type { LocalAddresses } from '../application/ports/node/network.js';
import type { SyncObserver } from '../application/ports/sync-observer.js';
import type { PortProblem } from '../application/status/port-status.js';
import type { IpFamily } from '../domain/net/ip-family.js';
import { withDefaults } from '../domain/validation/defaults.js';
import { isObject } from '../domain/validation/schema.js';
import { parseCommandLine, type CommandLine } from './configuration/command-line.js';
import { logSettings, withMode } from './configuration/proxy-configuration.js';
import type { KubeProxyConfiguration, ProxyMode } from './configuration/schema.js';
import { LifeCycle } from './life-cycle.js';
import { chooseMode } from './modes/choose-mode.js';
import type { OpenMode } from './modes/mode.js';
import type { Providers, ProxyParts } from './parts.js';
import { composeProxy } from './proxy.js';

/** The parts that an embedder replaces. What is left out is what the program itself has. */
export interface ProxyOptions {
  /**
   * The backends: one for each family that is served. Without any, a mode of this package, chosen by
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
  /** As a configuration file. Health and metrics are served only if their address is given. `flags` override it, and cannot have `--config`. */
  readonly configuration?: KubeProxyConfiguration;
  /** Flags as on the command line: `['--hostname-override=node-1', '--cluster-cidr=10.244.0.0/16']`. */
  readonly flags?: readonly string[];
  /**
   * Where events for operators go. Its `stop`, if it has one, is called when the proxy stops. Left out: the API server; with
   * manifests or a source of one's own, the log.
   */
  readonly events?: EventRecorder & { stop?(): Promise<void> };
  /** Receives the reports of the sync loops. It replaces the proxy's own, so health and metrics have no data about syncs then. */
  readonly syncObserver?: SyncObserver;
}

/**
 * Puts a proxy together; nothing runs before its `start`. Unlike the program it leaves the process and the machine alone:
 * it handles no signals, sets no sysctls but those of its mode, removes no rules of other modes, and serves health and metrics only if the
 * flags, or the configuration file that they name, enable it. With backends of one's own it opens no health-check node
 * ports either, listens for no node ports on localhost, and settings that differ between modes are those of nftables mode, unless `--proxy-mode` is given.
 * @throws UsageError, ConfigurationError when the flags or the configuration are invalid
 * @throws when the mode that the flags choose cannot be used on this machine
 */
export async function createProxy(options: ProxyOptions = {}): Promise<EmbeddedProxy> {
  const asked = readConfiguration(options);
  const logger = options.logger ?? PinoLogger.open(logSettings(asked.configuration));
  for (const warning of asked.warnings) logger.warn({}, warning);
  const parts = replacements(options, logger);
  if (!options.backends) {
    const { commandLine, mode } = await chooseMode(asked, logger);
    return new EmbeddedProxy(composeProxy(commandLine, await mode.open(), logger, parts));
  }
  const { mode } = asked.configuration;
  const name = mode === '' || mode === 'auto' ? 'nftables' : mode;
  const commandLine = { ...asked, configuration: withMode(asked.configuration, name) };
  return new EmbeddedProxy(composeProxy(commandLine, backendMode(name, options.backends), logger, parts));
}

function readConfiguration({ flags = [], configuration: given }: ProxyOptions): CommandLine {
  const commandLine = parseCommandLine(flags, { configuration: given });
  if (commandLine.config !== '') return commandLine;
  const { configuration } = commandLine;
  const asked = (flag: string, name: 'healthzBindAddress' | 'metricsBindAddress') =>
    commandLine.flags.has(flag) || given?.[name] ? configuration[name] : '';
  return {
    ...commandLine,
    configuration: {
      ...configuration,
      healthzBindAddress: asked('healthz-bind-address', 'healthzBindAddress'),
      metricsBindAddress: asked('metrics-bind-address', 'metricsBindAddress'),
    },
  };
}

/** The embedder's replacements for the program's parts. */
function replacements(options: ProxyOptions, logger: Logger): Partial<Providers<ProxyParts>> {
  const { backends, source, clock, conntrack, localAddresses, events, syncObserver } = options;
  const ownEvents = events ?? (source && new LoggedEvents(logger));
  return {
    ...(clock && { clock: () => clock }),
    ...(localAddresses && { localAddresses: () => localAddresses }),
    ...(source && {
      source: () => source,
      objectSink: ({ clusterEvents }) => completing(clusterEvents),
      serviceLookup: none,
      nodeTimeouts: () => (backends ? ADDRESS_OPTIONAL : NO_WAIT),
    }),
    ...(ownEvents && { eventRecorder: () => ownEvents }),
    ...(syncObserver && { syncObserver: () => syncObserver }),
    ...((conntrack ?? backends) && { conntrack: () => conntrack }),
    // Both observe the connections of the kernel, which are not those of another table.
    ...(conntrack && !(conntrack instanceof NetlinkConntrack) && { ejection: none, balancing: none }),
    ...(backends && { forwardingObstacles: none, healthCheckListener: none, localhostRelay: none }),
  };
}

const none = (): undefined => undefined;

/** Objects of an embedder may be written by hand, as manifests are. */
function completing(sink: ObjectSink): ObjectSink {
  return {
    applied: (kind, object) => sink.applied(kind, isObject(object) ? withDefaults(kind, object) : object),
    deleted: (kind, reference) => sink.deleted(kind, reference),
    synced: (kind) => sink.synced(kind),
  };
}

/** A service port that could not be programmed, with the family that it failed in. */
export interface NotProxiedPort extends PortProblem {
  readonly family: IpFamily;
}

/**
 * A proxy inside another program: made, started, stopped. Between start and stop it follows its source and retries what
 * fails by itself. What backends have programmed stays when it is stopped.
 */
export class EmbeddedProxy {
  /** Rejects when the proxy cannot continue, because this node's Node object lacks what it needs; never resolves. */
  readonly failure: Promise<never>;
  private readonly life: LifeCycle;
  private readonly made: ProxyParts;

  /** @internal Made by {@link createProxy}. */
  constructor(parts: ProxyParts) {
    this.made = parts;
    this.failure = parts.ready.failure;
    this.life = new LifeCycle(parts.clock, parts.logger.child({ caller: 'life-cycle' }));
    this.life.add(...parts.running);
  }

  /** The families that it serves. */
  get families(): readonly IpFamily[] {
    return this.made.served.map(({ family }) => family);
  }

  /** The parts that run between start and stop, by name: in the order in which it starts, the reverse of the order in which it stops. */
  get parts(): readonly string[] {
    return this.life.names;
  }

  /**
   * To be called once. Rejects when the source cannot be started, or a server that was requested with
   * `--bind-address-hard-fail`, or when `stop` is called meanwhile; what was started is stopped again then.
   */
  async start(): Promise<void> {
    await this.life.start();
  }

  /**
   * Resolves when every family has programmed, for the first time, what its source listed; service ports that failed alone
   * are among `notProxied`. Rejects with the reasons when a family failed as a whole; it is retried all the same.
   */
  async programmed(): Promise<void> {
    const attempts = Promise.all(this.made.served.map(({ loop }) => loop.firstAttempt));
    const problems = (await Promise.race([attempts, this.failure])).flatMap((problem) => problem ?? []);
    if (problems.length > 0) throw new Error(`not programmed: ${problems.join('; ')}`);
  }

  /** Everything that the source has delivered is programmed, except service ports among `notProxied`. */
  get inSync(): boolean {
    return this.made.served.every(({ loop }) => loop.inSync);
  }

  /** Service ports that could not be programmed. They are retried. */
  get notProxied(): readonly NotProxiedPort[] {
    return this.families.flatMap((family) =>
      this.made.statuses.failures(family).map((failed) => ({ ...failed, family })),
    );
  }

  /** Stops what runs, then closes the backends. Never rejects; idempotent. */
  async stop(): Promise<void> {
    await this.life.stop();
  }
}

/**
 * Backends of an embedder in the place of a mode.
 * @throws when two are of one family, or there is none
 */
export function backendMode(name: ProxyMode, backends: readonly Backend[]): OpenMode {
  const byFamily = new Map(backends.map((backend) => [backend.family, backend]));
  if (backends.length === 0 || byFamily.size < backends.length) {
    const given = backends.map(({ family }) => family).join(', ') || 'none';
    throw new Error(`one backend for each family is needed, but these are for: ${given}`);
  }
  return {
    name,
    isEmbedded: true,
    families: [...byFamily.keys()],
    means: { backends: backends.map(({ mode }) => mode) },
    backend: (family) => byFamily.get(family)!,
    close: async () => {
      await Promise.all(backends.map((backend) => backend.close()));
    },
  };
}
