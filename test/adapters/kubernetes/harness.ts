import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../../../src/application/ports/clock.js';
import type {
  ObjectReference,
  ObjectSink,
  ResourceKind,
} from '../../../src/application/ports/cluster-source.js';
import type { Logger } from '../../../src/application/ports/logger.js';
import { ApiClient } from '../../../src/adapters/kubernetes/client/api-client.js';
import type { Connection } from '../../../src/adapters/kubernetes/connection/connection.js';
import type { ListReceiver } from '../../../src/adapters/kubernetes/encoding/encoding.js';
import { KubernetesSource } from '../../../src/adapters/kubernetes/kubernetes-source.js';
import type { ApiTimeouts } from '../../../src/adapters/kubernetes/client/http-exchange.js';
import type { ReflectorTimings } from '../../../src/adapters/kubernetes/watch/reflector.js';
import { StandInApiServer, type RecordedRequest } from '../../support/api-server/api-server.js';
import { writeKubeconfig } from '../../support/api-server/kubeconfig.js';
import { Release, RELEASES } from '../../support/api-server/release.js';
import type { ApiObject } from '../../support/api-server/object-store.js';
import { until as untilHolds } from '../../support/until.js';

/** The real time, counting its open timers. */
export class CountingClock implements Clock {
  readonly open = new Set<NodeJS.Timeout>();

  now(): number {
    return Date.now();
  }

  steady(): number {
    return performance.now();
  }

  after(milliseconds: number, callback: () => void): { cancel(): void } {
    const timer = setTimeout(() => {
      this.open.delete(timer);
      callback();
    }, milliseconds);
    timer.unref();
    this.open.add(timer);
    return {
      cancel: () => {
        clearTimeout(timer);
        this.open.delete(timer);
      },
    };
  }
}

export interface LogLine {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly facts: Record<string, unknown>;
  readonly message: string;
}

export class RecordingLogger implements Logger {
  constructor(
    readonly lines: LogLine[] = [],
    private readonly facts: object = {},
  ) {}

  debug = this.level('debug');
  info = this.level('info');
  warn = this.level('warn');
  error = this.level('error');

  child(facts: object): Logger {
    return new RecordingLogger(this.lines, { ...this.facts, ...facts });
  }

  matching(level: LogLine['level'], text: string): LogLine[] {
    return this.lines.filter((line) => line.level === level && line.message.includes(text));
  }

  private level(level: LogLine['level']) {
    return (facts: object, message: string): void => {
      this.lines.push({ level, facts: { ...this.facts, ...facts }, message });
    };
  }
}

/** Receives a list all of whose items are readable. */
export function readableInto(items: unknown[]): ListReceiver {
  return {
    add: (object) => items.push(object),
    addUnreadable({ problem }) {
      throw new Error(problem);
    },
  };
}

/** What a decoder gives when a piece has arrived: the lines, or the events, that it completes. */
export function* completedBy<T>(
  decoder: { push(piece: Buffer): void; next(): T | undefined },
  piece: Buffer,
): Generator<T> {
  decoder.push(piece);
  for (let next = decoder.next(); next !== undefined; next = decoder.next()) yield next;
}

/** Keeps what is there, and the sequence of calls. */
export class RecordingSink implements ObjectSink {
  readonly calls: string[] = [];
  readonly objects = new Map<string, ApiObject>();
  readonly kindsSynced: ResourceKind[] = [];

  applied(kind: ResourceKind, object: unknown): void {
    const key = this.key(kind, (object as ApiObject).metadata);
    this.objects.set(key, object as ApiObject);
    this.calls.push(`applied ${key}`);
  }

  deleted(kind: ResourceKind, reference: ObjectReference): void {
    const key = this.key(kind, reference);
    this.objects.delete(key);
    this.calls.push(`deleted ${key}`);
  }

  synced(kind: ResourceKind): void {
    this.kindsSynced.push(kind);
    this.calls.push(`synced ${kind}`);
  }

  names(kind: ResourceKind): string[] {
    return [...this.objects.keys()].filter((key) => key.startsWith(`${kind} `)).sort();
  }

  private key(kind: ResourceKind, { namespace, name }: { namespace?: string; name: string }): string {
    return `${kind} ${namespace ? `${namespace}/` : ''}${name}`;
  }
}

/** An API server, and how it is asked for what it has. */
interface Server {
  /** Its release. */
  readonly version: string;
  readonly encoding: 'protobuf' | 'JSON';
  readonly streamLists: boolean;
}

/**
 * An API server of each release, asked for streams in encodings that alternate; one release delivers in two ways that have nothing in
 * common.
 */
export const SERVERS: readonly Server[] = [
  ...RELEASES.map((version, place) => ({
    version,
    encoding: place % 2 === 0 ? ('JSON' as const) : ('protobuf' as const),
    streamLists: true,
  })),
  { version: '1.36', encoding: 'JSON', streamLists: false },
];

/** Does the same at an API server of each release, at the same time: for what takes long because of waits. */
export async function atEachRelease(act: (served: ServedSource) => Promise<void>): Promise<void> {
  const all = RELEASES.map(async (version) => {
    const served = new ServedSource();
    try {
      await served.open('protobuf', version);
      await act(served);
    } catch (error) {
      throw new Error(`at ${version}: ${(error as Error).message}`, { cause: error });
    } finally {
      await served.end();
    }
  });
  const ended = await Promise.allSettled(all);
  for (const result of ended) if (result.status === 'rejected') throw result.reason;
}

/** Whether the server did not accept the request because of its release. */
function isRejection({ status }: RecordedRequest): boolean {
  return status === 400 || status === 422;
}

/** The requests that the server's release understands, in order. */
export function understood(requests: readonly RecordedRequest[]): RecordedRequest[] {
  return requests.filter((request) => !isRejection(request));
}

/** The requests that list a collection, in either way. */
export function listsOf({ requests }: StandInApiServer, collection: string): RecordedRequest[] {
  return understood(requests).filter(
    ({ path, verb, query }) => path === collection && (verb === 'list' || query.sendInitialEvents === 'true'),
  );
}

/** The requests that ask for nothing but the version of the storage. */
export function versionChecksOf({ requests }: StandInApiServer): RecordedRequest[] {
  return requests.filter(({ verb, query }) => verb === 'list' && isDeepStrictEqual(query, { limit: '1' }));
}

/** Times that make every state of a reflector come about within a test. */
const quickTimings: Partial<ReflectorTimings> = {
  streamLists: false,
  pageSize: 4,
  watchMinimum: 60_000,
  watchMaximum: 60_000,
  watchTooShort: 20,
  backoff: { initial: 20, maximum: 100, resetAfter: 2000 },
  absentRetry: 150,
  warnEvery: 30_000,
};

export interface Setup {
  readonly source: KubernetesSource;
  readonly client: ApiClient;
  readonly sink: RecordingSink;
  readonly logger: RecordingLogger;
  readonly clock: CountingClock;
}

export function setUp(
  connection: Connection,
  timings: Partial<ReflectorTimings> = {},
  timeouts: Partial<ApiTimeouts> = {},
  nodeName = 'node-a',
): Setup {
  const clock = new CountingClock();
  const logger = new RecordingLogger();
  const client = new ApiClient(connection, clock, { timeouts });
  const options = { nodeName, timings: { ...quickTimings, ...timings } };
  const source = new KubernetesSource(() => Promise.resolve(client), options, clock, logger);
  return { source, client, sink: new RecordingSink(), logger, clock };
}

/** A source at an API server, both for one test. `useServedSource` makes them. */
export class ServedSource {
  private server: StandInApiServer | undefined;
  private started: Setup | undefined;

  get api(): StandInApiServer {
    return this.server!;
  }

  get setup(): Setup {
    return this.started!;
  }

  /** Opens the server. */
  async open(encoding = 'protobuf', version?: string): Promise<void> {
    this.server = await StandInApiServer.start();
    this.server.speaksProtobuf = encoding === 'protobuf';
    if (version !== undefined) this.server.version = version;
  }

  /** How many kinds the server has: Service, Node, EndpointSlice or Endpoints, and since 1.33 ServiceCIDR. */
  get kinds(): number {
    return this.release.missing('/apis/networking.k8s.io/v1/servicecidrs') ? 3 : 4;
  }

  /** Everything that the server has is listed. */
  get synced(): boolean {
    const { kindsSynced } = this.setup.sink;
    return (['Node', 'Service', 'EndpointSlice', 'ServiceCIDR'] as const).every((kind) =>
      kindsSynced.includes(kind),
    );
  }

  /** Of the kind of which endpoints are read. */
  endpoints(name: string, labels: Record<string, string> = {}): ApiObject {
    if (this.endpointsKind === 'EndpointSlice') return slice(name, labels);
    return { apiVersion: 'v1', kind: 'Endpoints', metadata: { name, labels }, subsets: [] };
  }

  get endpointsKind(): 'EndpointSlice' | 'Endpoints' {
    return this.release.missing('/apis/discovery.k8s.io/v1/endpointslices') ? 'Endpoints' : 'EndpointSlice';
  }

  /** Requests of Services that the server's release understands. */
  requestsOfServices(verb: RecordedRequest['verb']): RecordedRequest[] {
    return understood(this.api.requestsOf(verb, '/api/v1/services'));
  }

  private get release(): Release {
    return Release.of(this.api.versions[0]!);
  }

  /** Starts the source. */
  async start(
    timings?: Partial<ReflectorTimings>,
    timeouts?: Partial<ApiTimeouts>,
    signal = new AbortController().signal,
  ): Promise<Setup> {
    this.started = setUp({ kubeconfig: await writeKubeconfig(this.api) }, timings, timeouts);
    await this.started.source.start(this.started.sink, signal);
    return this.started;
  }

  /** Starts, and waits until everything is listed and watched. */
  async startSynced(timings?: Partial<ReflectorTimings>, timeouts?: Partial<ApiTimeouts>): Promise<Setup> {
    const setup = await this.start(timings, timeouts);
    await until(() => this.synced && this.api.openWatches >= this.kinds);
    return setup;
  }

  /** Stops both. No timer is left. */
  async end(): Promise<void> {
    await this.started?.source.stop();
    expect(this.started?.clock.open.size ?? 0).toBe(0);
    await this.server?.close();
    this.started = this.server = undefined;
  }
}

/** To be called once in a file: each of its tests opens the server itself, and both end after it. */
export function useServedSource(): ServedSource {
  const served = new ServedSource();
  afterEach(() => served.end());
  return served;
}

/** Waits until the condition holds; fails with its text when it does not come to hold. */
export async function until(condition: () => boolean): Promise<void> {
  await untilHolds(condition.toString(), condition);
}

export function service(name: string, spec: object = {}, labels: Record<string, string> = {}): ApiObject {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, labels },
    spec: { clusterIP: '172.30.0.1', ports: [{ port: 80 }], ...spec },
  };
}

export function slice(name: string, labels: Record<string, string> = {}): ApiObject {
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name, labels },
    addressType: 'IPv4',
    endpoints: [{ addresses: ['10.244.0.1'] }],
    ports: [{ port: 8080 }],
  };
}

export function node(name: string): ApiObject {
  return { apiVersion: 'v1', kind: 'Node', metadata: { name } };
}
