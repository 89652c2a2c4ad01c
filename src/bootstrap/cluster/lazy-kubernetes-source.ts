import type { ApiClient } from '../../adapters/kubernetes/client/api-client.js';
import type { KubernetesSourceOptions } from '../../adapters/kubernetes/kubernetes-source.js';
import type { Clock } from '../../application/ports/clock.js';
import type { ClusterSource, ObjectSink, SourceStatus } from '../../application/ports/cluster-source.js';
import type { Logger } from '../../application/ports/logger.js';

/** The API server as a source. Its client is slow to load, so it is loaded only when the source starts. */
export class LazyKubernetesSource implements ClusterSource {
  private source: ClusterSource | undefined;

  constructor(
    private readonly client: () => Promise<ApiClient>,
    private readonly options: KubernetesSourceOptions,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  async start(sink: ObjectSink, signal: AbortSignal): Promise<void> {
    const [{ KubernetesSource }, client] = await Promise.all([
      import('../../adapters/kubernetes/kubernetes-source.js'),
      this.client(),
    ]);
    this.source = new KubernetesSource(client, this.options, this.clock, this.logger);
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
