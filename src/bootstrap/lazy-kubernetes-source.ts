import type { Clock } from '../application/ports/clock.js';
import type { ClusterSource, ObjectSink, SourceStatus } from '../application/ports/cluster-source.js';
import type { Logger } from '../application/ports/logger.js';

export interface KubernetesConnection {
  readonly kubeconfig: string;
  /** URL of the API server, before the kubeconfig's. */
  readonly master: string | undefined;
  readonly nodeName: string;
}

/** The API server as a source. Its client is costly to load, so that happens only when it is started. */
export class LazyKubernetesSource implements ClusterSource {
  private source: ClusterSource | undefined;

  constructor(
    private readonly connection: KubernetesConnection,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  async start(sink: ObjectSink, signal: AbortSignal): Promise<void> {
    const [{ KubernetesSource }, { ApiClient }] = await Promise.all([
      import('../adapters/kubernetes/kubernetes-source.js'),
      import('../adapters/kubernetes/api-client.js'),
    ]);
    const { kubeconfig, master, nodeName } = this.connection;
    const client = new ApiClient(
      { ...(kubeconfig && { kubeconfig }), ...(master && { master }) },
      this.clock,
    );
    this.source = new KubernetesSource(client, { nodeName }, this.clock, this.logger);
    await this.source.start(sink, signal);
  }

  get problems(): readonly string[] {
    return this.source?.problems ?? [];
  }

  status(): readonly SourceStatus[] {
    return this.source?.status() ?? [];
  }

  async stop(): Promise<void> {
    await this.source?.stop();
  }
}
