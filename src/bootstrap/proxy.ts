import type { Logger } from '../application/ports/logger.js';
import type { CommandLine } from './configuration/command-line.js';
import { familyModule } from './family/family-module.js';
import { FAMILY, SERVED_FAMILY } from './family/identifiers.js';
import {
  AWAIT_NODE,
  CLOCK,
  FAMILIES,
  LOGGER,
  MACHINE_SETTINGS,
  MODE,
  PACKET_COUNTERS,
  PROXY_PARTS,
  READY,
  SERVED_FAMILIES,
} from './identifiers.js';
import { Container } from './injection/container.js';
import { provide, provideValue, type Module } from './injection/provider.js';
import { LifeCycle } from './life-cycle/life-cycle.js';
import { proxyParts } from './life-cycle/proxy-parts.js';
import { clusterModule } from './modules/cluster-module.js';
import { eventsModule } from './modules/events-module.js';
import { nodeModule } from './modules/node-module.js';
import { processModule } from './modules/process-module.js';
import { serverModule } from './modules/server-module.js';
import { syncModule } from './modules/sync-module.js';
import { trafficModule } from './modules/traffic-module.js';
import type { OpenMode } from './modes/open-mode.js';

/** The mode's own settings. */
const machineSettings = provide(
  MACHINE_SETTINGS,
  { mode: MODE },
  ({ mode }) =>
    async () =>
      mode.setUp?.(),
);

/** A start that fails has changed nothing: the machine is set up when nothing but writing rules is left to do. */
const ready = provide(READY, { awaitNode: AWAIT_NODE, setUp: MACHINE_SETTINGS }, ({ awaitNode, setUp }) => {
  const promise = awaitNode.ready.then(setUp);
  // Whoever runs the proxy listens from then on.
  promise.catch(() => {});
  return { promise };
});

/**
 * Puts the parts of a proxy together. Nothing runs yet.
 * @param replacements what counts instead of the parts of this program
 */
export function composeProxy(
  commandLine: CommandLine,
  mode: OpenMode,
  logger: Logger,
  replacements: Module = [],
): Container {
  const container = Container.create();
  const served = provide(SERVED_FAMILIES, { families: FAMILIES }, ({ families }) =>
    families.map((family) => {
      const ofFamily = [...familyModule, mode.backend, provideValue(FAMILY, family)];
      return Container.create(container).load(ofFamily).resolve({ served: SERVED_FAMILY }).served;
    }),
  );
  return container.load(
    processModule(commandLine, mode.families, logger),
    clusterModule,
    nodeModule,
    eventsModule,
    syncModule,
    serverModule,
    trafficModule,
    [provideValue(MODE, mode), provideValue(PACKET_COUNTERS, mode.packetCounters), served, proxyParts],
    [machineSettings, ready],
    replacements,
  );
}

/** A proxy that can run. Rules stay in the kernel when it is stopped. */
export class Proxy {
  /** Rejects when it cannot go on; never resolves. */
  readonly failure: Promise<never>;
  private readonly life: LifeCycle;

  /** @param life where its parts are registered, if they start and stop together with others */
  constructor(container: Container, life?: LifeCycle) {
    const { parts, ready, clock, logger } = container.resolve({
      parts: PROXY_PARTS,
      ready: READY,
      clock: CLOCK,
      logger: LOGGER,
    });
    this.life = life ?? new LifeCycle(clock, logger.child({ caller: 'life-cycle' }));
    this.life.add(...parts);
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
