import { ApiClient, type ApiObserver } from '../../src/adapters/kubernetes/client/api-client.js';
import { KubernetesSource } from '../../src/adapters/kubernetes/kubernetes-source.js';
import { SystemClock } from '../../src/adapters/process/system-clock.js';
import type { ObjectSink, ResourceKind } from '../../src/application/ports/cluster-source.js';
import type { Logger } from '../../src/application/ports/logger.js';
import { NODE_NAME } from '../cluster.js';

const KINDS = 4;

const QUIET: Logger = { debug() {}, info() {}, warn() {}, error() {}, child: () => QUIET };

/** What one node does with an API server: the real client, reflectors and decoders; what they deliver is only counted. */
export class FleetNode implements ObjectSink {
  /** Objects delivered. */
  delivered = 0;
  private readonly source: KubernetesSource;
  private readonly kindsSynced = new Set<ResourceKind>();

  constructor(kubeconfig: string, streamLists: boolean, observer: ApiObserver) {
    const clock = new SystemClock();
    const client = new ApiClient({ kubeconfig }, clock, { observer });
    this.source = new KubernetesSource(
      () => Promise.resolve(client),
      { nodeName: NODE_NAME, timings: { streamLists } },
      clock,
      QUIET,
    );
  }

  start(): Promise<void> {
    return this.source.start(this, new AbortController().signal);
  }

  stop(): Promise<void> {
    return this.source.stop();
  }

  /** Everything is listed, and every watch is open. */
  get current(): boolean {
    return this.kindsSynced.size === KINDS && this.source.status().every(({ connected }) => connected);
  }

  /** No watch is open. */
  get cutOff(): boolean {
    return this.source.status().every(({ connected }) => !connected);
  }

  applied(): void {
    this.delivered++;
  }

  deleted(): void {}

  synced(kind: ResourceKind): void {
    this.kindsSynced.add(kind);
  }
}
