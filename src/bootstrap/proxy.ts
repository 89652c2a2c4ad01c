import { Container, type ServiceIdentifier } from 'inversify';
import type { Logger } from '../application/ports/logger.js';
import type { CommandLine } from './configuration/command-line.js';
import {
  AWAIT_NODE,
  CLUSTER_EVENTS,
  CLUSTER_SOURCE,
  COMMAND_LINE,
  CONNTRACK,
  CONNTRACK_RECONCILERS,
  EVENT_RECORDER,
  HEALTH_SERVER,
  METRICS_SERVER,
  MODE,
  SERVICE_HEALTH_CHECKS,
  SYNC_LOOPS,
} from './identifiers.js';
import { nodeEvent } from './node-event.js';
import { clusterModule } from './modules/cluster-module.js';
import { conntrackModule } from './modules/conntrack-module.js';
import { eventsModule } from './modules/events-module.js';
import { processModule } from './modules/process-module.js';
import { serverModule } from './modules/server-module.js';
import { syncModule } from './modules/sync-module.js';
import type { OpenMode } from './modes/open-mode.js';

/** Puts the parts of a proxy together. Nothing runs yet. */
export function composeProxy(commandLine: CommandLine, mode: OpenMode, logger: Logger): Container {
  const container = new Container();
  container.load(
    processModule(commandLine, mode.families, logger, mode.localAddresses),
    clusterModule,
    eventsModule,
    syncModule,
    conntrackModule,
    mode.module,
    serverModule,
  );
  container.bind(MODE).toConstantValue(mode);
  return container;
}

/**
 * A proxy that runs: servers first, so that probes are answered from the start; then the source, whose first complete
 * lists, and the own Node in them, set the sync loops going. It stops in reverse order. Rules stay in the kernel.
 */
export class Proxy {
  private readonly stopping = new AbortController();
  /** Rejects when it cannot go on; never resolves. */
  readonly failure: Promise<never>;

  constructor(private readonly container: Container) {
    this.failure = container.get(AWAIT_NODE).ready.then(() => new Promise<never>(() => {}));
    // Whoever runs the proxy listens from then on.
    this.failure.catch(() => {});
  }

  /** Rejects when the source cannot be started, or with bindAddressHardFail when a server cannot. */
  async start(): Promise<void> {
    await this.serve(HEALTH_SERVER, 'FailedToStartProxierHealthcheck');
    await this.serve(METRICS_SERVER, 'FailedToStartMetricServer');
    await this.container.get(CLUSTER_SOURCE).start(this.container.get(CLUSTER_EVENTS), this.stopping.signal);
    this.container.get(MODE).followAddresses?.(() => {
      for (const loop of this.container.get(SYNC_LOOPS)) {
        loop.pending.nodeChanged();
        loop.changed();
      }
    });
  }

  /** With bindAddressHardFail a server that cannot listen ends the program; the cluster is told. */
  private async serve(
    identifier: ServiceIdentifier<{ start(): Promise<void> } | undefined>,
    reason: string,
  ): Promise<void> {
    try {
      await this.container.get(identifier)?.start();
    } catch (error) {
      const note = error instanceof Error ? error.message : String(error);
      const { nodeName } = this.container.get(COMMAND_LINE);
      this.container.get(EVENT_RECORDER).record(nodeEvent(nodeName, 'Warning', reason, note));
      throw error;
    }
  }

  /** Idempotent. */
  async stop(): Promise<void> {
    this.stopping.abort();
    this.container.get(AWAIT_NODE).stop();
    await this.container.get(EVENT_RECORDER).stop();
    await this.container.get(CLUSTER_SOURCE).stop();
    await Promise.all(this.container.get(SYNC_LOOPS).map((loop) => loop.stop()));
    await Promise.all(this.container.get(CONNTRACK_RECONCILERS).map((reconciler) => reconciler.stop()));
    await this.container.get(CONNTRACK).close();
    await Promise.all(this.container.get(SERVICE_HEALTH_CHECKS).map((checks) => checks.stop()));
    await this.container.get(METRICS_SERVER)?.stop();
    await this.container.get(HEALTH_SERVER)?.stop();
    await this.container.get(MODE).close();
  }
}
