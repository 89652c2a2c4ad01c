import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { isDeepStrictEqual } from 'node:util';
import { admitsAll, type Admission, type OtherAnswer, type OtherRequest } from './admission.js';
import { Answer } from './answer.js';
import { sharedCertificates, type Certificates } from './certificates.js';
import { ClusterRole, type Authorizer } from './cluster-role.js';
import { ContainerCommands } from './container-commands.js';
import { Faults } from './faults.js';
import { ObjectStore, type ApiObject, type Backup } from './object-store.js';
import { jsonPatch } from './patches/json-patch.js';
import type { Fields } from './patches/merge-keys.js';
import { mergePatch } from './patches/merge-patch.js';
import { AppliedConfigurations } from './patches/server-side-apply.js';
import { strategicMerge } from './patches/strategic-merge.js';
import { Release, type InvalidOption } from './release.js';
import { decodeBody, isProtobuf } from './read-protobuf.js';
import {
  apiVersionOf,
  collectionOf,
  isClusterScoped,
  listKindOf,
  parseResourcePath,
  type ResourcePath,
} from './resource-path.js';
import { selectedFields, selectorOf } from './selectors.js';
import { Traffic } from './traffic.js';
import { WatchCache } from './watch-cache.js';
import { Watcher } from './watcher.js';

export interface RecordedRequest {
  readonly verb: 'list' | 'watch' | 'get' | 'create' | 'update' | 'patch' | 'delete';
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly authorization: string | undefined;
  readonly at: number;
  /** Status of the answer; of a watch when it begins. */
  status: number;
}

const VERBS: Record<string, RecordedRequest['verb']> = {
  POST: 'create',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
};

const PATCHES: Readonly<Record<string, (target: ApiObject, patch: unknown) => unknown>> = {
  'application/merge-patch+json': mergePatch,
  'application/strategic-merge-patch+json': strategicMerge,
  'application/json-patch+json': jsonPatch,
};
const APPLY = 'application/apply-patch+yaml';

/**
 * A Kubernetes API server for tests, over TLS on 127.0.0.1, in this process: any resource of any group by its path, with
 * lists in pages, watches, bookmarks, selectors, all kinds of patches, exec over WebSocket, and faults to be injected. It behaves as
 * the release `version`. Objects are not validated unless by `admission`; what the ClusterRole of `deploy` does not allow is forbidden.
 *
 *     const api = await StandInApiServer.start();
 *     api.put({ apiVersion: 'v1', kind: 'Service', metadata: { name: 'web' }, spec: { … } });
 *     const file = await writeKubeconfig(api, directory);
 *     …
 *     await api.close();
 */
export class StandInApiServer {
  readonly store = new ObjectStore();
  readonly cache = new WatchCache(this.store);
  readonly faults = new Faults();
  readonly traffic = new Traffic();
  /** What exec answers. */
  readonly containers = new ContainerCommands();
  readonly requests: RecordedRequest[] = [];
  /** How many watches asked for more history than there is. */
  expiredWatches = 0;
  /** Bearer tokens that are let in; a client certificate of the authority always is. */
  tokens: Pick<ReadonlySet<string>, 'has'> = new Set(['stand-in-token']);
  /** Collections, or beginnings of their paths, that this cluster does not have: 404. */
  readonly missing = new Set<string>();
  /** Whether clients that ask for protocol buffers get them; otherwise everything is JSON. */
  speaksProtobuf = true;
  /** The feature gate WatchList: whether a watch may begin with what is there, at releases where that is on by default. */
  streamsLists = true;
  /** The releases of the servers behind this address; each request reaches the next one. */
  versions: readonly string[] = ['1.36'];
  /** What clients may do; undefined: everything. */
  clusterRole: Authorizer | undefined = new ClusterRole();
  /** What becomes of writes before they are stored. */
  admission: Admission = admitsAll;
  /** Answers what is not about an object or a collection, such as discovery; undefined: as any other path. */
  answerOther: (request: OtherRequest) => OtherAnswer | undefined = () => undefined;
  /** What kubectl gets that asks for a table; undefined: the object or list itself. */
  asTable: (body: unknown) => object | undefined = () => undefined;
  private readonly applied = new AppliedConfigurations();
  private readonly watchers = new Set<Watcher>();
  private readonly snapshots = new Map<string, { objects: ApiObject[]; version: number }>();
  private server: Server | undefined;
  private readonly sockets: Server[] = [];
  private port = 0;

  /** New ones count from the next `open` on. */
  private constructor(public certificates: Certificates) {}

  static async start(certificates?: Certificates): Promise<StandInApiServer> {
    const api = new StandInApiServer(certificates ?? (await sharedCertificates()));
    await api.open();
    return api;
  }

  /** All servers behind this address are of this release, such as `1.36`. */
  set version(version: string) {
    this.versions = [version];
  }

  get url(): string {
    return `https://127.0.0.1:${this.port}`;
  }

  get openWatches(): number {
    return this.watchers.size;
  }

  /** Whether somebody watches the collection, and is sent what changes: not from a version that is yet to come, as after a restore. */
  isWatched(collection: string): boolean {
    const { isBehind, version } = this.cache;
    if (isBehind) return false;
    return [...this.watchers].some(
      ({ request, hanging }) => request.collection === collection && request.from <= version && !hanging,
    );
  }

  /** When a watch that is open has told of an object of the collection last, by `performance.now()`. */
  toldAt(collection: string): number {
    const watchers = [...this.watchers].filter(({ request }) => request.collection === collection);
    return Math.max(-Infinity, ...watchers.map(({ toldAt }) => toldAt));
  }

  get openConnections(): number {
    return this.traffic.connections;
  }

  /** Listens, on the port that it had before. */
  async open(): Promise<void> {
    const server = this.makeServer();
    this.server = server;
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(this.port, '127.0.0.1', resolve);
    });
    this.port = (server.address() as AddressInfo).port;
  }

  /** Listens on a Unix socket as well, until it is closed: for clients in other network namespaces. */
  async openSocket(path: string): Promise<void> {
    const server = this.makeServer();
    this.sockets.push(server);
    await new Promise<void>((resolve) => server.listen(path, resolve));
  }

  private makeServer(): Server {
    const { authority, server } = this.certificates;
    const made = createServer(
      {
        ca: authority,
        cert: server.certificate,
        key: server.key,
        requestCert: true,
        rejectUnauthorized: false,
      },
      (request, response) => void this.handle(request, response),
    );
    made.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) =>
      this.containers.upgrade(request, socket, head, this.isLetIn(request)),
    );
    made.on('connection', (socket: Socket) => this.traffic.connected(socket));
    made.on('secureConnection', (socket) => this.traffic.secured(socket));
    return made;
  }

  /** Stops listening and cuts all connections. The objects stay; `open` continues. */
  async close(): Promise<void> {
    const server = this.server;
    this.server = undefined;
    if (!server) return;
    const closed = [server, ...this.sockets.splice(0)].map(
      (each) => new Promise<void>((resolve) => each.close(() => resolve())),
    );
    this.traffic.cut();
    await Promise.all(closed);
  }

  /** Creates or replaces an object; the namespace is "default" unless given. */
  put(object: ApiObject): ApiObject {
    return this.store.put(object);
  }

  /** Merges into an object that exists (JSON merge patch). */
  patch(
    apiVersion: string,
    kind: string,
    reference: { namespace?: string; name: string },
    patch: object,
  ): ApiObject {
    const namespace = isClusterScoped(kind) ? undefined : (reference.namespace ?? 'default');
    const before = this.store.get(collectionOf(apiVersion, kind), namespace, reference.name);
    if (!before) throw new Error(`no ${kind} ${reference.name} to patch`);
    return this.store.put(mergePatch(before, patch) as ApiObject);
  }

  remove(apiVersion: string, kind: string, reference: { namespace?: string; name: string }): void {
    const namespace = isClusterScoped(kind) ? undefined : (reference.namespace ?? 'default');
    const removed = this.store.remove(collectionOf(apiVersion, kind), namespace, reference.name);
    if (!removed) throw new Error(`no ${kind} ${reference.name} to remove`);
  }

  /** Objects of a kind, such as the events that were posted. */
  objects(apiVersion: string, kind: string): ApiObject[] {
    return this.store.list(collectionOf(apiVersion, kind));
  }

  /** Restarts with its storage as it was, as from a backup of etcd: versions are given anew. */
  async restore(backup: Backup): Promise<void> {
    await this.close();
    this.cache.catchUp();
    this.store.restore(backup);
    this.snapshots.clear();
    await this.open();
  }

  /** Its cache hears of all that it has missed; watches end that cannot. */
  catchUp(): void {
    if (!this.cache.catchUp()) this.disconnectWatches();
  }

  /** Sends a bookmark to all watches that asked for them and have come as far as this version. */
  bookmark(resourceVersion = String(this.cache.version)): void {
    for (const watcher of this.watchers) watcher.bookmark(resourceVersion);
  }

  /** Cuts all watches; they may come back. */
  disconnectWatches(): void {
    for (const watcher of this.watchers) watcher.cut();
  }

  /** Ends all watches as at the end of their time. */
  endWatches(): void {
    for (const watcher of this.watchers) watcher.end();
  }

  /** All open watches send nothing any more, and stay open. */
  hangWatches(): void {
    for (const watcher of this.watchers) watcher.hanging = true;
  }

  /** Sends an event ERROR with status 410 to all watches, as servers do that lost their history. */
  expireWatches(): void {
    this.compact();
    for (const watcher of this.watchers) expire(watcher);
  }

  /** The same to those of one collection, of which only the cache has lost its history. */
  expireWatchesOf(collection: string): void {
    for (const watcher of this.watchers) if (watcher.request.collection === collection) expire(watcher);
  }

  sendRaw(text: string | Buffer): void {
    for (const watcher of this.watchers) watcher.sendRaw(text);
  }

  /** Forgets the history: older versions and all continue tokens have expired. */
  compact(): void {
    this.store.compact();
    this.snapshots.clear();
  }

  requestsOf(verb: RecordedRequest['verb'], path: string): RecordedRequest[] {
    return this.requests.filter((request) => request.verb === verb && request.path === path);
  }

  private async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', this.url);
    const path = parseResourcePath(url.pathname);
    const method = request.method ?? 'GET';
    const watch = url.searchParams.get('watch') === 'true' || url.searchParams.get('watch') === '1';
    const record: RecordedRequest = {
      verb: VERBS[method] ?? (watch ? 'watch' : path?.name ? 'get' : 'list'),
      method,
      path: url.pathname,
      query: Object.fromEntries(url.searchParams),
      authorization: request.headers.authorization,
      at: Date.now(),
      status: 0,
    };
    this.requests.push(record);
    let writer = new Answer(request, response, this.speaksProtobuf);
    const answer = (code: number, body: unknown, headers: Record<string, string> = {}): void => {
      record.status = code;
      const table = request.headers.accept?.includes('as=Table') ? this.asTable(body) : undefined;
      writer.send(code, table ?? body, headers);
    };
    const refuse = (code: number, reason: string, message: string): void =>
      answer(code, status(code, reason, message));

    let body: unknown;
    try {
      body = await readBody(request);
    } catch (error) {
      return refuse(415, 'UnsupportedMediaType', (error as Error).message);
    }
    if (this.faults.delay > 0) await new Promise((resolve) => setTimeout(resolve, this.faults.delay));
    // The client has given up.
    if (response.destroyed) return;
    if (!this.isLetIn(request)) return refuse(401, 'Unauthorized', 'Unauthorized');
    const failure = this.faults.take(request.url ?? '');
    if (failure) {
      const { retryAfter, status: code, reason = 'InternalError', message = 'injected' } = failure;
      if (failure.body !== undefined) writer = new Answer(request, response, false);
      return answer(
        code,
        failure.body ?? status(code, reason, message),
        retryAfter === undefined ? {} : { 'retry-after': `${retryAfter}` },
      );
    }
    const release = Release.of(this.versions[this.requests.length % this.versions.length]!);
    if (url.pathname === '/version') {
      const [major, minor] = release.version.split('.');
      return answer(200, { major, minor, gitVersion: `v${release.version}.0` });
    }
    const other = this.answerOther({ method, path: url.pathname, query: url.searchParams, body });
    if (other) return answer(other.code, other.body);
    if (!path || [...this.missing].some((prefix) => url.pathname.startsWith(prefix))) {
      return refuse(404, 'NotFound', 'the server could not find the requested resource');
    }
    if (this.clusterRole && !this.clusterRole.allows(record.verb, path, tokenOf(request))) {
      return refuse(403, 'Forbidden', `the ClusterRole does not allow to ${record.verb} ${path.collection}`);
    }
    const missing = release.missing(path.collection);
    if (missing === 'group') return answer(404, '404 page not found\n');
    if (missing) return refuse(404, 'NotFound', 'the server could not find the requested resource');
    try {
      if (record.verb === 'list' || record.verb === 'watch') {
        const streams = this.streamsLists && release.streamsLists;
        const invalid = release.invalidOptions(url.searchParams, streams);
        if (invalid.length > 0) return answer(422, invalidOptions(invalid));
        for (const field of selectedFields(url.searchParams)) {
          const problem = release.rejectedField(path.collection, field);
          if (problem !== undefined) return refuse(400, 'BadRequest', problem);
        }
      }
      switch (record.verb) {
        case 'list':
          return this.list(path, url.searchParams, release, answer);
        case 'watch':
          return this.watch(path, url.searchParams, release, record, response, writer, answer);
        default: {
          const write = { ...record, body, type: mediaType(request) };
          return this.single(record.verb, path, write, (code, object) =>
            answer(code, release.view(object as ApiObject)),
          );
        }
      }
    } catch (error) {
      refuse(400, 'BadRequest', (error as Error).message);
    }
  }

  private isLetIn(request: IncomingMessage): boolean {
    const token = tokenOf(request);
    const socket = request.socket as TLSSocket;
    // A resumed session without any certificate counts as authorised for Node; a closed one has none at all.
    const certificate = socket.getPeerCertificate() as ReturnType<TLSSocket['getPeerCertificate']> | null;
    const certified = socket.authorized && Boolean(certificate?.subject);
    return certified || (token !== undefined && this.tokens.has(token));
  }

  private list(
    { collection, namespace }: ResourcePath,
    query: URLSearchParams,
    release: Release,
    answer: Send,
  ): void {
    const token = query.get('continue');
    const requested = query.get('resourceVersion') ?? '';
    if (token && requested) throw new Error('specifying resource version is not allowed when using continue');
    // The newest is asked of the storage.
    const source = requested === '' ? this.store : this.cache;
    if (Number(requested) > source.version) {
      return answer(504, tooLargeVersion(requested, source.version));
    }
    const matches = selectorOf(query);
    const wanted = (object: ApiObject): boolean =>
      (namespace === undefined || object.metadata.namespace === namespace) && matches(object);
    const [id = '', offset = '0'] = token?.split('.') ?? [];
    const snapshot = token
      ? this.snapshots.get(id)
      : { objects: source.list(collection).filter(wanted), version: source.version };
    if (!snapshot) return answer(410, status(410, 'Expired', 'the provided continue parameter is too old'));
    const begin = Number(offset);
    const whole = this.faults.ignoreLimitAtZero && requested === '0';
    const asked = (!whole && Number(query.get('limit'))) || Infinity;
    const limit = asked === Infinity ? asked : Math.min(asked, this.faults.largestPage);
    const items = snapshot.objects.slice(begin, begin + limit).map((object) => release.view(object));
    const metadata: Record<string, unknown> = { resourceVersion: String(snapshot.version) };
    if (begin + limit < snapshot.objects.length) {
      const name = id || `${this.snapshots.size}-${snapshot.version}`;
      this.snapshots.set(name, snapshot);
      metadata.continue = `${name}.${begin + limit}`;
      metadata.remainingItemCount = snapshot.objects.length - begin - limit;
    }
    answer(200, { kind: listKindOf(collection), apiVersion: apiVersionOf(collection), metadata, items });
  }

  private watch(
    { collection, namespace }: ResourcePath,
    query: URLSearchParams,
    release: Release,
    record: RecordedRequest,
    response: ServerResponse,
    writer: Answer,
    answer: Send,
  ): void {
    const requested = Number(query.get('resourceVersion') || 0);
    const streamed = this.streamsLists && release.streamsLists && query.get('sendInitialEvents') === 'true';
    const least = query.get('resourceVersion') ? requested : this.store.version;
    if (streamed && least > this.cache.version)
      return answer(504, tooLargeVersion(requested, this.cache.version));
    const expired = !streamed && requested > 0 && requested < this.store.compacted;
    const message = `too old resource version: ${requested} (${this.store.compacted})`;
    if (expired) this.expiredWatches++;
    if (expired && this.faults.goneAs === 'status') return answer(410, status(410, 'Expired', message));
    record.status = 200;
    writer.beginWatch();
    if (expired) {
      response.end(writer.event('ERROR', status(410, 'Expired', message)));
      return;
    }
    const selector = selectorOf(query);
    const seconds = Number(query.get('timeoutSeconds') || 1800);
    const bookmarks = query.get('allowWatchBookmarks') === 'true';
    // Without a version a watch begins with what is there.
    const from = streamed ? this.cache.version : requested || this.cache.version;
    const place = namespace === undefined ? {} : { namespace };
    const watcher: Watcher = new Watcher(
      this.cache,
      { collection, ...place, selector, from, bookmarks, seconds, view: (object) => release.view(object) },
      response,
      writer,
      this.faults,
      () => this.watchers.delete(watcher),
    );
    // In segments as large as the network takes; kube-apiserver sends nearly every object by itself.
    response.cork();
    if (requested === 0 || streamed) {
      const present = this.cache
        .list(collection)
        .filter((object) => namespace === undefined || object.metadata.namespace === namespace);
      for (const object of present.filter(selector)) watcher.send('ADDED', release.view(object));
    }
    if (streamed && !this.faults.withholdListEnd)
      watcher.bookmark(String(this.cache.version), { 'k8s.io/initial-events-end': 'true' });
    response.uncork();
    watcher.hanging ||= this.faults.hangNewWatches;
    this.watchers.add(watcher);
    if (this.faults.endNewWatches && !streamed) watcher.end();
  }

  private single(verb: RecordedRequest['verb'], path: ResourcePath, write: Write, answer: Send): void {
    const { collection, namespace, name } = path;
    const body = write.body as ApiObject & { metadata: { generateName?: string } };
    if (verb === 'create') {
      const made = body.metadata.name ?? `${body.metadata.generateName ?? 'object-'}${this.store.version}`;
      if (this.store.get(collection, namespace, made))
        return answer(409, status(409, 'AlreadyExists', `${collection} "${made}" already exists`));
      const metadata = { ...body.metadata, name: made, ...(namespace ? { namespace } : {}) };
      return answer(201, this.write({ ...body, metadata }, undefined, write));
    }
    const before = name === undefined ? undefined : this.store.get(collection, namespace, name);
    if (!before && write.type === APPLY && name) {
      const made = this.patched(
        { metadata: { name, ...(namespace && { namespace }) } },
        path,
        write,
      ) as ApiObject;
      return answer(201, this.write(made, undefined, write));
    }
    if (!before) return answer(404, status(404, 'NotFound', `${collection} "${name}" not found`));
    switch (verb) {
      case 'update':
        return answer(
          200,
          this.write({ ...body, metadata: { ...before.metadata, ...body.metadata } }, before, write),
        );
      case 'patch': {
        const patched = this.patched(before, path, write);
        if (patched) return answer(200, this.write(patched as ApiObject, before, write));
        return answer(
          415,
          status(415, 'UnsupportedMediaType', 'the body of the request was in an unknown format'),
        );
      }
      case 'delete':
        return answer(200, this.delete(before, path));
      default:
        return answer(200, before);
    }
  }

  /** Undefined where the kind of patch is not known. */
  private patched(before: Fields, path: ResourcePath, { type, body, query }: Write): unknown {
    if (type === APPLY)
      return this.applied.apply(before, body as Fields, query.fieldManager ?? '', keyOf(path));
    return PATCHES[type]?.(before as ApiObject, body);
  }

  /** What changes nothing makes no new version. */
  private write(object: ApiObject, before: ApiObject | undefined, { query }: Write): ApiObject {
    const admitted = this.admission.write(object, before);
    if (query.dryRun || (before && isDeepStrictEqual(admitted, before))) return admitted;
    return this.store.put(admitted);
  }

  private delete(object: ApiObject, path: ResourcePath): ApiObject {
    const instead = this.admission.remove(object);
    if (instead) return this.store.put(instead);
    this.applied.forget(keyOf(path));
    return this.store.remove(path.collection, path.namespace, object.metadata.name)!;
  }
}

/** What came with a write. */
interface Write {
  readonly body: unknown;
  /** Its media type. */
  readonly type: string;
  readonly query: Readonly<Record<string, string>>;
}

function keyOf({ collection, namespace = '', name = '' }: ResourcePath): string {
  return `${collection}/${namespace}/${name}`;
}

function tokenOf({ headers }: IncomingMessage): string | undefined {
  return /^Bearer (.*)$/.exec(headers.authorization ?? '')?.[1];
}

function mediaType({ headers }: IncomingMessage): string {
  return (headers['content-type'] ?? '').split(';')[0]!;
}

type Send = (code: number, body: unknown) => void;

function status(code: number, reason: string, message: string): object {
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', code, reason, message };
}

function invalidOptions(options: readonly InvalidOption[]): object {
  const problems = options.map(({ field, message }) => `${field}: ${message}`);
  const all = problems.length === 1 ? problems[0]! : `[${problems.join(', ')}]`;
  const causes = options.map((option) => ({ reason: 'FieldValueForbidden', ...option }));
  return {
    ...status(422, 'Invalid', `ListOptions.meta.k8s.io "" is invalid: ${all}`),
    details: { group: 'meta.k8s.io', kind: 'ListOptions', causes },
  };
}

function tooLargeVersion(version: number | string, current: number): object {
  const cause = { reason: 'ResourceVersionTooLarge', message: 'Too large resource version' };
  return {
    ...status(504, 'Timeout', `Timeout: Too large resource version: ${version}, current: ${current}`),
    details: { causes: [cause], retryAfterSeconds: 1 },
  };
}

function expire(watcher: Watcher): void {
  watcher.send('ERROR', status(410, 'Expired', 'too old resource version'));
  watcher.end();
}

async function readBody(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const bytes = Buffer.concat(chunks);
  if (isProtobuf(bytes)) return decodeBody(bytes);
  return bytes.length === 0 ? undefined : JSON.parse(bytes.toString('utf8'));
}
