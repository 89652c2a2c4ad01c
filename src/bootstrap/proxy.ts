import { NetlinkConntrack } from '../adapters/conntrack/netlink-conntrack.js';
import type { Logger } from '../application/ports/logger.js';
import type { IpFamily } from '../domain/net/ip-family.js';
import type { CommandLine } from './configuration/command-line.js';
import { serveFamily } from './family/serve-family.js';
import { Container } from './injection/container.js';
import { LifeCycle } from './life-cycle/life-cycle.js';
import { runningParts } from './life-cycle/running-parts.js';
import { clusterModule } from './modules/cluster-module.js';
import { eventsModule } from './modules/events-module.js';
import { nodeModule } from './modules/node-module.js';
import { processModule } from './modules/process-module.js';
import { serverModule } from './modules/server-module.js';
import { syncModule } from './modules/sync-module.js';
import { trafficModule } from './modules/traffic-module.js';
import type { OpenMode } from './modes/open-mode.js';
import type { Module, ProxyParts } from './parts/proxy-parts.js';
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

/**
 * Puts the parts of a proxy together. Nothing runs yet.
 * @param replacements what counts instead of the parts of this program
 */
export function composeProxy(
  commandLine: CommandLine,
  mode: OpenMode,
  logger: Logger,
  replacements: Module = {},
): Container<ProxyParts> {
  const container: Container<ProxyParts> = Container.create<ProxyParts>({
    ...readingModules(commandLine, mode.families, logger),
    ...serverModule,
    ...trafficModule,
    mode: () => mode,
    packetCounters: () => mode.packetCounters,
    conntrack: () => new NetlinkConntrack(),
    served: ({ families }) =>
      families.map((family) =>
        serveFamily(container.child({ family: () => family, backend: mode.backend }).parts),
      ),
    setUpMachine: () => async () => mode.setUp?.(),
    // A start that fails has changed nothing: the machine is set up when nothing but writing rules is left to do.
    ready({ awaitNode, setUpMachine }) {
      const promise = awaitNode.ready.then(setUpMachine);
      // Whoever runs the proxy listens from then on.
      promise.catch(() => {});
      return { promise };
    },
    running: runningParts,
    ...replacements,
  });
  return container;
}

function readingModules(commandLine: CommandLine, families: readonly IpFamily[], logger: Logger) {
  return {
    ...processModule(commandLine, families, logger),
    ...clusterModule,
    ...nodeModule,
    ...eventsModule,
    ...syncModule,
  };
}

/** A proxy that can run. Rules stay in the kernel when it is stopped. */
export class Proxy {
  /** Rejects when it cannot go on; never resolves. */
  readonly failure: Promise<never>;
  private readonly life: LifeCycle;

  /** @param life where its parts are registered, if they start and stop together with others */
  constructor({ parts }: Container<ProxyParts>, life?: LifeCycle) {
    const { running, ready, clock, logger } = parts;
    this.life = life ?? new LifeCycle(clock, logger.child({ caller: 'life-cycle' }));
    this.life.add(...running);
    this.failure = ready.promise.then(() => new Promise<never>(() => {}));
    // Whoever runs the proxy listens from then on.
    this.failure.catch(() => {});
  }

  /** The names of what runs, in the order in which it starts. */
  get parts(): readonly string[] {
    return this.life.names;
  }

  /**
   * Starts everything, once. When the source cannot be started, or with bindAddressHardFail a server, it stops again what
   * was started and rejects.
   */
  start(): Promise<void> {
    return this.life.start();
  }

  /**
   * Stops all parts, each whatever becomes of the others, within four seconds in all; those that fail or hang are logged.
   * Also ends a start under way. Never rejects; idempotent.
   */
  stop(): Promise<void> {
    return this.life.stop();
  }
}
