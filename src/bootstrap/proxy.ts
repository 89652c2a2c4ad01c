import { Container, type ServiceIdentifier } from 'inversify';
import { errorMessage } from '../application/error-message.js';
import type { Logger } from '../application/ports/logger.js';
import type { CommandLine } from './configuration/command-line.js';
import {
  AWAIT_NODE,
  CLOCK,
  CLUSTER_EVENTS,
  CLUSTER_SOURCE,
  COMMAND_LINE,
  CONNTRACK,
  CONNTRACK_RECONCILERS,
  EVENT_RECORDER,
  HEALTH_SERVER,
  LOCAL_ADDRESSES,
  LOGGER,
  METRICS_SERVER,
  MODE,
  SERVICE_HEALTH_CHECKS,
  SYNC_LOOPS,
} from './identifiers.js';
import { LifeCycle } from './life-cycle/life-cycle.js';
import { nodeEvent } from './node/node-event.js';
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
    processModule(commandLine, mode.families, logger),
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

  /** @param parts where what runs is added; who made it may stop it instead of the proxy */
  constructor(
    private readonly container: Container,
    private readonly parts = new LifeCycle(container.get(CLOCK), container.get(LOGGER)),
  ) {
    parts.add(
      { name: 'proxy mode', stop: () => container.get(MODE).close() },
      { name: 'addresses of this node', stop: () => container.get(LOCAL_ADDRESSES).close?.() },
      { name: 'healthz server', stop: () => container.get(HEALTH_SERVER)?.stop() },
      { name: 'metrics server', stop: () => container.get(METRICS_SERVER)?.stop() },
      { name: 'service health checks', stop: () => stopAll(container.get(SERVICE_HEALTH_CHECKS)) },
      { name: 'conntrack', stop: () => container.get(CONNTRACK).close() },
      { name: 'conntrack reconcilers', stop: () => stopAll(container.get(CONNTRACK_RECONCILERS)) },
      { name: 'sync loops', stop: () => stopAll(container.get(SYNC_LOOPS)) },
      { name: 'cluster source', stop: () => container.get(CLUSTER_SOURCE).stop() },
      { name: 'event recorder', stop: () => container.get(EVENT_RECORDER).stop() },
      { name: 'wait for the Node', stop: () => container.get(AWAIT_NODE).stop() },
      { name: 'start', stop: () => this.stopping.abort() },
    );
    this.failure = container.get(AWAIT_NODE).ready.then(() => new Promise<never>(() => {}));
    // Whoever runs the proxy listens from then on.
    this.failure.catch(() => {});
  }

  /** Rejects when the source cannot be started, or with bindAddressHardFail when a server cannot. */
  async start(): Promise<void> {
    await this.serve(HEALTH_SERVER, 'FailedToStartProxierHealthcheck');
    await this.serve(METRICS_SERVER, 'FailedToStartMetricServer');
    await this.container.get(CLUSTER_SOURCE).start(this.container.get(CLUSTER_EVENTS), this.stopping.signal);
    this.container.get(LOCAL_ADDRESSES).follow?.(() => {
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
      const note = errorMessage(error);
      const { nodeName } = this.container.get(COMMAND_LINE);
      this.container.get(EVENT_RECORDER).record(nodeEvent(nodeName, 'Warning', reason, note));
      throw error;
    }
  }

  /**
   * Ends all parts, each whatever becomes of the others, within four seconds in all; the log tells of those that fail or
   * hang. Also ends a start that is under way. Never rejects; idempotent.
   */
  async stop(): Promise<void> {
    await this.parts.stop();
  }
}

async function stopAll(parts: readonly { stop(): Promise<void> }[]): Promise<void> {
  await Promise.all(parts.map((part) => part.stop()));
}
