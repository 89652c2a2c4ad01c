import { Container } from 'inversify';
import type { Logger } from '../application/ports/logger.js';
import type { IpFamily } from '../domain/net/ip-family.js';
import type { CommandLine } from './configuration/command-line.js';
import {
  CLUSTER_EVENTS,
  CLUSTER_SOURCE,
  CONNTRACK,
  CONNTRACK_RECONCILERS,
  HEALTH_SERVER,
  METRICS_SERVER,
  NFT_TRANSPORTS,
  SYNC_LOOPS,
} from './identifiers.js';
import type { NftTransports } from './nft-transport.js';
import { clusterModule } from './modules/cluster-module.js';
import { conntrackModule } from './modules/conntrack-module.js';
import { nftablesModule } from './modules/nftables-module.js';
import { processModule } from './modules/process-module.js';
import { serverModule } from './modules/server-module.js';
import { syncModule } from './modules/sync-module.js';

/** Puts the parts of a proxy together. Nothing runs yet. */
export function composeProxy(
  commandLine: CommandLine,
  families: readonly IpFamily[],
  transports: NftTransports,
  logger: Logger,
): Container {
  const container = new Container();
  container.load(
    processModule(commandLine, families, logger),
    clusterModule,
    syncModule,
    conntrackModule,
    nftablesModule(transports),
    serverModule,
  );
  return container;
}

/**
 * A proxy that runs: servers first, so that probes are answered from the start; then the source, whose first complete
 * lists set the sync loops going. It stops in reverse order. Rules stay in the kernel.
 */
export class Proxy {
  private readonly stopping = new AbortController();

  constructor(private readonly container: Container) {}

  /** Rejects when the source cannot be started, or with bindAddressHardFail when a server cannot. */
  async start(): Promise<void> {
    await this.container.get(HEALTH_SERVER)?.start();
    await this.container.get(METRICS_SERVER)?.start();
    await this.container.get(CLUSTER_SOURCE).start(this.container.get(CLUSTER_EVENTS), this.stopping.signal);
  }

  /** Idempotent. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await this.container.get(CLUSTER_SOURCE).stop();
    await Promise.all(this.container.get(SYNC_LOOPS).map((loop) => loop.stop()));
    await Promise.all(this.container.get(CONNTRACK_RECONCILERS).map((reconciler) => reconciler.stop()));
    await this.container.get(CONNTRACK).close();
    await this.container.get(METRICS_SERVER)?.stop();
    await this.container.get(HEALTH_SERVER)?.stop();
    await this.container.get(NFT_TRANSPORTS).close();
  }
}
