/** Objects that the proxy reads from the API server. */

import type { Clock } from '../../application/ports/clock.js';
import type {
  ClusterSource,
  ObjectSink,
  ResourceKind,
  SourceStatus,
  ServiceLookup,
} from '../../application/ports/cluster-source.js';
import type { Logger } from '../../application/ports/logger.js';
import type { ServiceKey } from '../../domain/model/service-port-name.js';
import type { ApiClient } from './client/api-client.js';
import { Reflector, defaultReflectorTimings, type ReflectorTimings } from './watch/reflector.js';
import { proxyResources } from './watch/resources.js';
import { RewindCheck } from './watch/rewind-check.js';

interface KubernetesSourceOptions {
  /** Name of this node; only its Node object is read. */
  readonly nodeName: string;
  readonly timings?: Partial<ReflectorTimings>;
}

interface Running {
  readonly reflector: Reflector;
  readonly abort: AbortController;
  readonly done: Promise<void>;
}

/**
 * Delivers the objects of the API server, with one reflector for each kind. On a cluster too old for EndpointSlices it reads
 * Endpoints instead and delivers them as kind `Endpoints`; then both kinds become synced together. If the cluster offers
 * EndpointSlices later, after an upgrade, Endpoints are retracted as soon as the slices are delivered; after a downgrade it is the
 * other way round. The client, which is slow to
 * load, is requested at the start.
 */
export class KubernetesSource implements ClusterSource {
  private readonly running = new Map<ResourceKind, Running>();
  private readonly timings: ReflectorTimings;
  /** From the start on. */
  private server: { readonly client: ApiClient; readonly rewinds: RewindCheck } | undefined;
  private readonly stopping = new AbortController();
  /** Always empty: objects from the API server are complete, and missing ones are waited for. */
  readonly problems: readonly string[] = [];

  constructor(
    private readonly client: () => Promise<ApiClient>,
    private readonly options: KubernetesSourceOptions,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {
    this.timings = { ...defaultReflectorTimings, ...options.timings };
  }

  /** Rejects with KubeconfigError when the connection to the API server is not configured. Missing credentials are waited for. */
  async start(sink: ObjectSink, signal: AbortSignal): Promise<void> {
    const client = await this.client();
    const { clock, logger, timings, stopping } = this;
    const kinds = (): readonly Reflector[] => [...this.running.values()].map(({ reflector }) => reflector);
    const rewinds = new RewindCheck(client, kinds, timings, clock, logger, stopping.signal);
    this.server = { client, rewinds };
    const { href } = await client.load();
    if (signal.aborted || stopping.signal.aborted) return;
    signal.addEventListener('abort', () => void this.stop(), { once: true });
    this.logger.info({ server: href, node: this.options.nodeName }, 'reading from the API server');
    for (const kind of ['Node', 'Service', 'EndpointSlice', 'ServiceCIDR'] as const) this.reflect(kind, sink);
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    const all = [...this.running.values()];
    for (const { abort } of all) abort.abort();
    await Promise.all([this.server?.rewinds.stopped(), ...all.map(({ done }) => done)]);
    this.server?.client.close();
  }

  status(): readonly SourceStatus[] {
    return [...this.running.values()].map(({ reflector }) => reflector.status());
  }

  private reflect(kind: ResourceKind, sink: ObjectSink): void {
    const { client, rewinds } = this.server!;
    const reflector = new Reflector(
      proxyResources(this.options.nodeName)[kind],
      client,
      {
        applied: (object) => sink.applied(kind, object),
        deleted: (reference) => sink.deleted(kind, reference),
        synced: () => this.onSynced(kind, sink),
        absent: () => this.onAbsent(kind, sink),
      },
      rewinds,
      this.timings,
      this.clock,
      this.logger,
    );
    const abort = new AbortController();
    this.running.set(kind, { reflector, abort, done: reflector.run(abort.signal) });
  }

  private onSynced(kind: ResourceKind, sink: ObjectSink): void {
    sink.synced(kind);
    if (kind === 'EndpointSlice') void this.leaveEndpoints();
    if (kind !== 'Endpoints') return;
    sink.synced('EndpointSlice');
    const slices = this.running.get('EndpointSlice')?.reflector;
    if (slices?.status().state === 'absent') slices.retract();
  }

  private onAbsent(kind: ResourceKind, sink: ObjectSink): void {
    if (kind === 'EndpointSlice') this.reflect('Endpoints', sink);
    else sink.synced(kind);
  }

  private async leaveEndpoints(): Promise<void> {
    const endpoints = this.running.get('Endpoints');
    if (!endpoints) return;
    endpoints.abort.abort();
    await endpoints.done;
    this.running.delete('Endpoints');
    endpoints.reflector.retract();
  }
}

/** How long the API server may usually take, in milliseconds. */
const USUAL_LIMIT = 5000;

const SERVICE = /^([a-z0-9-]{1,63})\/([a-z0-9.-]{1,253})$/;

/** Looks for Services at the API server: one at a time, so that questions do not use up the rate of the watches. */
export class ApiServiceLookup implements ServiceLookup {
  private turn: Promise<unknown> = Promise.resolve();

  /** @param limit how long the API server may take for an answer, in milliseconds */
  constructor(
    private readonly client: () => Promise<ApiClient>,
    private readonly limit = USUAL_LIMIT,
  ) {}

  find(service: ServiceKey): Promise<unknown> {
    const [, namespace, name] = SERVICE.exec(service) ?? [];
    if (namespace === undefined || name === undefined) return Promise.resolve(undefined);
    const answer = this.turn.then(() => this.list(namespace, name));
    this.turn = answer.catch(() => {});
    return answer;
  }

  /** A list of one: the role of node proxies allows no other way to read Services. */
  private async list(namespace: string, name: string): Promise<unknown> {
    const client = await this.client();
    const list = (await client.json({
      path: `/api/v1/namespaces/${namespace}/services`,
      query: { fieldSelector: `metadata.name=${name}` },
      signal: AbortSignal.timeout(this.limit),
    })) as { readonly items?: readonly unknown[] } | null;
    return list?.items?.[0];
  }
}
