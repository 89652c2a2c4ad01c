import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { IpFamily } from '../../../src/domain/net/ip-family.js';
import { StandInApiServer } from '../../support/api-server/api-server.js';
import type { ApiObject, Backup } from '../../support/api-server/object-store.js';
import { collectionOf } from '../../support/api-server/resource-path.js';
import { Life } from '../world/life.js';
import { markedInvalid } from './marked-invalid.js';
import { ManifestFolder } from './manifest-folder.js';
import type { ServiceDescription } from './service-description.js';
import { serviceObject, sliceObjects } from './service-objects.js';
import { ADDRESSES } from '../world/settings.js';
import type { World } from '../world/world.js';

/** Milliseconds. */
const BOOKMARKS = 60_000;
export const SERVICES = '/api/v1/services';
export const SLICES = '/apis/discovery.k8s.io/v1/endpointslices';
const RANGES = '/apis/networking.k8s.io/v1/servicecidrs';
/** Of what else the program follows. */
const OTHERS = ['/api/v1/nodes', RANGES];
const NO_CERTIFICATES = {
  authority: '',
  server: { certificate: '', key: '' },
  client: { certificate: '', key: '' },
};

/** What the program may ask of the API server: the real file. */
const ROLE = resolve('deploy/base/cluster-role.yaml');
let role: Buffer | undefined;

/** The API server of a simulated world, and what users have written to it. */
export class SimulatedCluster {
  readonly life = new Life('api-server', 2);
  /** Where objects are files; the API server then only keeps what they say. */
  readonly manifests: ManifestFolder | undefined;
  /** The addresses of the Node object. */
  readonly nodeAddresses: Record<IpFamily, string> = {
    IPv4: ADDRESSES.IPv4.node,
    IPv6: ADDRESSES.IPv6.node,
  };
  /** The podCIDRs of the Node object, … */
  readonly podNetworks: Record<IpFamily, string> = { IPv4: '10.244.1.0/24', IPv6: 'fd00:10:244:1::/64' };
  /** … if it has any at the moment. */
  hasPodNetworks = true;
  /** The zone of the Node object. */
  zone = 'zone-a';
  /** What was there, by its place, in place of which something is that is not valid; undefined: nothing. */
  private readonly misconfigured = new Map<ApiObject, ApiObject | undefined>();
  /** Services whose addresses another one has taken over, which is the value: whoever deletes them sees to it that they go. */
  private readonly givingWay = new Map<string, string>();
  private server: StandInApiServer | undefined;
  private restored = Promise.resolve();

  constructor(private readonly world: World) {
    if (world.settings.source === 'manifests') this.manifests = new ManifestFolder(world.files);
  }

  get api(): StandInApiServer {
    if (!this.server) throw new Error('the cluster has not been opened');
    return this.server;
  }

  /** Whether the program hears of all that users write, and has heard of it, or will in a moment. */
  get isFollowed(): boolean {
    return this.manifests !== undefined || [SERVICES, SLICES].every((path) => this.api.isWatched(path));
  }

  /** When the program was told last of Services, and of their slices. With manifests nobody knows. */
  get toldAt(): readonly number[] {
    return [SERVICES, SLICES].map((path) => this.api.toldAt(path));
  }

  /** The same as `isFollowed`, and of the Node and of service ranges, so that nothing is left to be listed. */
  get isFollowedCompletely(): boolean {
    return (
      this.isFollowed && (this.manifests !== undefined || OTHERS.every((path) => this.api.isWatched(path)))
    );
  }

  /** Opens the API server, with this node in it. */
  async open(): Promise<void> {
    const { world } = this;
    world.files.put(ROLE, (role ??= readFileSync(ROLE)));
    const opened = world.scheduler.as(this.life, () => StandInApiServer.start(NO_CERTIFICATES));
    await world.scheduler.runUntil(world.now + 1);
    this.server = await opened;
    world.scheduler.as(this.life, () => this.sendBookmarks());
    const node = this.putNode();
    this.putServiceRange('kubernetes');
    this.manifests?.write('node', [node, ...this.api.store.list(RANGES)]);
    world.files.put('/etc/kubeproxy/kubeconfig', kubeconfig(this.api.url));
  }

  /** Writes what has changed of a Service and its slices. */
  putService(name: string, description: ServiceDescription): void {
    const [namespace = '', plain = ''] = name.split('/');
    const { families } = this.world.settings;
    const slices = sliceObjects(namespace, plain, description, families);
    const wanted = [serviceObject(namespace, plain, description, families), ...slices];
    for (const object of wanted) if (!this.isThere(object)) this.put(object);
    this.removeSlices(namespace, plain, new Set(slices.map(({ metadata }) => metadata.name)));
    this.manifests?.write(name, wanted);
  }

  /** Deletes a Service a while after another one has taken over its addresses. */
  giveWay(former: string, successor: string, after: number): void {
    this.givingWay.set(former, successor);
    const { scheduler, fate } = this.world;
    scheduler.after(after, () => this.removeService(former), fate);
  }

  removeService(name: string): void {
    const [namespace = '', plain = ''] = name.split('/');
    this.manifests?.remove(name);
    if (this.api.store.get(SERVICES, namespace, plain)) this.remove('v1', 'Service', plain, namespace);
    this.world.scheduler.after(
      50,
      () => {
        const isBack = this.api.store.get(SERVICES, namespace, plain) !== undefined;
        if (!isBack) this.removeSlices(namespace, plain, new Set());
      },
      this.life,
    );
  }

  /** A ServiceCIDR of that name. */
  putServiceRange(name: string, ranges?: Readonly<Record<IpFamily, string>>): void {
    const { families } = this.world.settings;
    this.put({
      apiVersion: 'networking.k8s.io/v1',
      kind: 'ServiceCIDR',
      metadata: { name },
      spec: { cidrs: families.map((family) => ranges?.[family] ?? ADDRESSES[family].services) },
    });
  }

  removeServiceRange(name: string): void {
    if (this.api.store.get(RANGES, undefined, name)) this.remove('networking.k8s.io/v1', 'ServiceCIDR', name);
  }

  get serviceRanges(): readonly string[] {
    return this.api.store.list(RANGES).flatMap(({ spec }) => (spec as { readonly cidrs: string[] }).cidrs);
  }

  /** The Service itself, or its slices, whatever labels they have. */
  objectsOf(collection: string, service: string): readonly ApiObject[] {
    const [namespace, name = ''] = service.split('/');
    return this.api.store
      .list(collection)
      .filter(({ metadata }) => metadata.namespace === namespace)
      .filter(({ metadata: { name: own } }) =>
        collection === SERVICES ? own === name : own.startsWith(`${name}-ip`),
      );
  }

  /** Gives it other labels in place of those that it has. */
  relabel(collection: string, service: string, labels: Readonly<Record<string, string>>): void {
    for (const { metadata, ...object } of this.objectsOf(collection, service))
      this.put({ ...object, metadata: { ...metadata, labels } } as ApiObject);
  }

  /** Its storage is as it was then. Who writes Services is not told; the kubelet and the control plane write again what they do. */
  async restore(backup: Backup): Promise<void> {
    // One that is under way ends first.
    this.restored = this.restored.then(() => this.api.restore(backup));
    await this.restored;
    this.putNode();
    this.putServiceRange('kubernetes');
    for (const names of this.givingWay)
      if (names.every((name) => this.objectsOf(SERVICES, name).length > 0)) this.removeService(names[0]);
  }

  /** Writes an object that is not valid. */
  misconfigure(object: ApiObject): void {
    const { apiVersion, kind, metadata } = object;
    const former = this.api.store.get(collectionOf(apiVersion, kind), metadata.namespace, metadata.name);
    this.misconfigured.set(this.put(markedInvalid(object)), former);
  }

  /** What is not valid is as it was before, or goes. */
  mend(): void {
    for (const [invalid, former] of [...this.misconfigured].reverse()) {
      const { apiVersion, kind, metadata } = invalid;
      const isThere =
        this.api.store.get(collectionOf(apiVersion, kind), metadata.namespace, metadata.name) === invalid;
      if (!isThere) continue;
      if (former) this.put(former);
      else this.remove(apiVersion, kind, metadata.name, metadata.namespace);
    }
    this.misconfigured.clear();
  }

  /** Creates or replaces an object, as a user does. */
  put(object: ApiObject): ApiObject {
    return this.world.scheduler.as(this.life, () => this.api.put(object));
  }

  remove(apiVersion: string, kind: string, name: string, namespace?: string): void {
    this.world.scheduler.as(this.life, () =>
      this.api.remove(apiVersion, kind, { name, ...(namespace !== undefined && { namespace }) }),
    );
  }

  /** About once a minute, as API servers do. */
  private sendBookmarks(): void {
    this.world.scheduler.after(BOOKMARKS, () => {
      this.api.bookmark();
      this.sendBookmarks();
    });
  }

  private isThere({ apiVersion, kind, metadata, ...content }: ApiObject): boolean {
    const there = this.api.store.get(collectionOf(apiVersion, kind), metadata.namespace, metadata.name);
    if (!there) return false;
    const { apiVersion: _version, kind: _kind, metadata: known, ...present } = there;
    return (
      isDeepStrictEqual(present, content) &&
      isDeepStrictEqual(known.labels ?? {}, metadata.labels ?? {}) &&
      isDeepStrictEqual(known.annotations ?? {}, metadata.annotations ?? {})
    );
  }

  private removeSlices(namespace: string, service: string, kept: ReadonlySet<string>): void {
    for (const { metadata } of this.objectsOf(SLICES, `${namespace}/${service}`))
      if (!kept.has(metadata.name) && !metadata.name.endsWith('-beside'))
        this.remove('discovery.k8s.io/v1', 'EndpointSlice', metadata.name, namespace);
  }

  /** Writes the Node object, of which the rest stays. */
  putNode(labels: Readonly<Record<string, string>> = {}): ApiObject {
    const { nodeName, families } = this.world.settings;
    return this.put({
      apiVersion: 'v1',
      kind: 'Node',
      metadata: {
        name: nodeName,
        labels: { 'kubernetes.io/hostname': nodeName, 'topology.kubernetes.io/zone': this.zone, ...labels },
      },
      spec: this.hasPodNetworks ? { podCIDRs: families.map((family) => this.podNetworks[family]) } : {},
      status: {
        addresses: families.map((family) => ({ type: 'InternalIP', address: this.nodeAddresses[family] })),
      },
    });
  }
}

function kubeconfig(server: string): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'simulated', cluster: { server } }],
    users: [{ name: 'proxy', user: { token: 'stand-in-token' } }],
    contexts: [{ name: 'default', context: { cluster: 'simulated', user: 'proxy' } }],
    'current-context': 'default',
  });
}
