/** The cluster as the proxy sees it, and the endpoints of its service ports. */

import isEqual from 'fast-deep-equal';
import type { ServiceCidr } from '../decode/read-service-cidr.js';
import {
  sharedWithEarlier,
  endpointCount,
  firstUsable,
  type EndpointSlice,
  type SlicePort,
} from '../model/endpoint-slice.js';
import { sortedOnce, type Endpoint, type PortIdentity } from '../model/endpoint.js';
import { grouped } from '../model/maps.js';
import type { Node } from '../model/node.js';
import { serviceKey, type ServiceKey } from '../model/service-port-name.js';
import type { Service, NotProxiedKind } from '../model/service.js';
import { subset } from '../model/subset.js';
import { IP_FAMILIES, type IpFamily } from '../net/ip-family.js';

/**
 * The known state of the cluster: validated objects, indexed so that a Service and its endpoints are found
 * without a search. Each call returns what it may have changed; changes are not remembered.
 */
export class ClusterState {
  private readonly services = new Map<ServiceKey, Service>();
  /** By Service: a list, because nearly all have one or two. Slices of unknown Services are kept: the Service may come later. */
  private readonly slices = new Map<ServiceKey, readonly EndpointSlice[]>();
  /** The Service that a slice belongs to, by `namespace/slice`, because its label may change; undefined for one that names none. */
  private readonly owners = new Map<string, ServiceKey | undefined>();
  /** Valid Services that no rules are for: why, and nothing else. */
  private readonly notProxied = new Map<ServiceKey, NotProxiedKind>();
  private readonly serviceCidrs = new Map<string, ServiceCidr>();
  private currentNode: Node | undefined;

  get node(): Node | undefined {
    return this.currentNode;
  }

  serviceKeys(): Iterable<ServiceKey> {
    return this.services.keys();
  }

  /** How many Services are served. */
  get serviceCount(): number {
    return this.services.size;
  }

  service(key: ServiceKey): Service | undefined {
    return this.services.get(key);
  }

  /** Whether the Service is known, served or not. */
  hasService(key: ServiceKey): boolean {
    return this.services.has(key) || this.notProxied.has(key);
  }

  /** How many Services have external IPs. Costs a walk through all of them. */
  get externalIPServices(): number {
    return [...this.services.values()].filter(({ externalIPs }) => externalIPs.length > 0).length;
  }

  /** Why a known Service is not served; undefined if it is, or is not known. */
  notProxiedKind(key: ServiceKey): NotProxiedKind | undefined {
    return this.notProxied.get(key);
  }

  /** Known Services that are not served. */
  notProxiedKeys(): Iterable<ServiceKey> {
    return this.notProxied.keys();
  }

  /**
   * All endpoints of the Service's ports in one family, merged over its slices. Asking for one port costs what it has.
   * @param most of each port, as of `mergeEndpoints`
   */
  endpointsByPort(
    key: ServiceKey,
    family: IpFamily,
    most?: number,
  ): (port: PortIdentity) => readonly Endpoint[] {
    return mergeEndpoints(this.slicesOfFamily(key, family), most);
  }

  /** How many endpoints each of the Service's ports has in one family; those in several slices count as often. */
  endpointCounts(key: ServiceKey, family: IpFamily): (port: PortIdentity) => number {
    return countEndpoints(this.slicesOfFamily(key, family));
  }

  private slicesOfFamily(key: ServiceKey, family: IpFamily): readonly EndpointSlice[] {
    return subset(this.slicesOf(key), (slice) => slice.family === family);
  }

  /** The ports of the Service's slices of one family; repeated if several slices have them. */
  slicePorts(key: ServiceKey, family: IpFamily): readonly PortIdentity[] {
    const slices = this.slicesOf(key).filter((slice) => slice.family === family);
    return slices.flatMap(({ ports }) => ports.map(({ name, protocol }) => ({ port: name, protocol })));
  }

  /** The slices of a Service, of both families. */
  slicesOf(key: ServiceKey): readonly EndpointSlice[] {
    return this.slices.get(key) ?? NO_SLICES;
  }

  /** All slices that name a Service, whether or not it exists. */
  *allSlices(): Iterable<EndpointSlice> {
    for (const slices of this.slices.values()) yield* slices;
  }

  /** Slices that name no Service, as `namespace/slice`. */
  *unlabeledSlices(): Iterable<string> {
    for (const [id, owner] of this.owners) if (owner === undefined) yield id;
  }

  /** Whether the slice is known, with a Service or without one. */
  hasSlice(namespace: string, name: string): boolean {
    return this.owners.has(serviceKey(namespace, name));
  }

  /** Whether slices of the Service are known, of this family. */
  hasSlices(key: ServiceKey, family: IpFamily): boolean {
    return this.slicesOf(key).some((slice) => slice.family === family);
  }

  /** The slices of a Service, as `namespace/name`. */
  sliceNames(key: ServiceKey): readonly string[] {
    return this.slicesOf(key).map(({ namespace, name }) => serviceKey(namespace, name));
  }

  /** Returns the families that the Service concerns, or did until now; none when nothing that the proxy reads has changed. */
  applyService(service: Service): readonly IpFamily[] {
    const key = serviceKey(service.namespace, service.name);
    const previous = this.services.get(key);
    if (isEqual(previous, service)) return [];
    this.services.set(key, service);
    this.notProxied.delete(key);
    return familiesOf(service, previous);
  }

  /** Returns the families that the Service concerned. */
  removeService(key: ServiceKey): readonly IpFamily[] {
    const previous = this.services.get(key);
    this.services.delete(key);
    this.notProxied.delete(key);
    return familiesOf(previous);
  }

  /** The Service exists, but is not served. Returns the families that it concerned. */
  leaveService(key: ServiceKey, why: NotProxiedKind): readonly IpFamily[] {
    const families = this.removeService(key);
    this.notProxied.set(key, why);
    return families;
  }

  /** Returns the Services whose endpoints the slice may have changed, with the family: the current ones, and previous ones. */
  applySlice(slice: EndpointSlice): readonly SliceChange[] {
    const id = serviceKey(slice.namespace, slice.name);
    const key = serviceKey(slice.namespace, slice.service);
    const previousOwner = this.owners.get(id);
    const changes: SliceChange[] = [];
    if (previousOwner !== undefined && previousOwner !== key)
      changes.push(...this.removeSlice(slice.namespace, slice.name));
    const siblings = this.slicesOf(key);
    const place = siblings.findIndex(({ name }) => name === slice.name);
    const previous = siblings[place];
    const applied = previous ? sharedWithEarlier(previous, slice) : slice;
    if (applied === previous) return changes;
    // A literal with a spread keeps room for sixteen more: 13 MB at 100,000 services.
    this.slices.set(key, previous ? siblings.with(place, applied) : siblings.concat(applied));
    if (previousOwner !== key) this.owners.set(id, key);
    if (previous && previous.family !== slice.family) changes.push({ service: key, family: previous.family });
    changes.push({ service: key, family: slice.family });
    return changes;
  }

  removeSlice(namespace: string, name: string): readonly SliceChange[] {
    const id = serviceKey(namespace, name);
    const key = this.owners.get(id);
    this.owners.delete(id);
    if (key === undefined) return [];
    const siblings = this.slicesOf(key);
    const removed = siblings.find((slice) => slice.name === name);
    const left = subset(siblings, (slice) => slice.name !== name);
    if (left.length > 0) this.slices.set(key, left);
    else this.slices.delete(key);
    return removed ? [{ service: key, family: removed.family }] : [];
  }

  /** The slice exists, but names no Service. Returns what `removeSlice` returns. */
  leaveSlice(namespace: string, name: string): readonly SliceChange[] {
    const changes = this.removeSlice(namespace, name);
    this.owners.set(serviceKey(namespace, name), undefined);
    return changes;
  }

  applyNode(node: Node): boolean {
    if (isEqual(this.currentNode, node)) return false;
    this.currentNode = node;
    return true;
  }

  applyServiceCidr(object: ServiceCidr): boolean {
    if (isEqual(this.serviceCidrs.get(object.name), object)) return false;
    this.serviceCidrs.set(object.name, object);
    return true;
  }

  removeServiceCidr(name: string): boolean {
    return this.serviceCidrs.delete(name);
  }

  serviceCidrObjects(): Iterable<ServiceCidr> {
    return this.serviceCidrs.values();
  }
}

const NO_SLICES: readonly EndpointSlice[] = [];

function familiesOf(...versions: readonly (Service | undefined)[]): readonly IpFamily[] {
  return IP_FAMILIES.filter((family) =>
    versions.some((service) => service?.clusterIPs[family] !== undefined),
  );
}

/** A Service whose endpoints of one family may have changed. */
export interface SliceChange {
  readonly service: ServiceKey;
  readonly family: IpFamily;
}

const NONE: readonly Endpoint[] = [];

/** With more ports than this in all slices of a Service, they are not searched one by one. */
const FEW = 8;

/**
 * The endpoints of each service port from all slices of its Service: sorted by `ip:port`, each once (docs/internals/spec/model.md §3.3).
 * Among duplicates the last slice by name wins, so that the result does not depend on the order of events.
 * @param most the most endpoints that are taken: those on this node first, then those of the first slices by name; none that cannot
 * get traffic
 */
export function mergeEndpoints(
  slices: readonly EndpointSlice[],
  most = Infinity,
): (port: PortIdentity) => readonly Endpoint[] {
  const portsOf = portsInNameOrder(slices);
  return (port) => {
    const ports = portsOf(port);
    if (ports.length === 0) return NONE;
    if (countOf(ports) > most) return sortedOnce(limited(ports, most));
    return ports.length === 1 ? ports[0]!.endpoints : sortedOnce(ports.flatMap(({ endpoints }) => endpoints));
  };
}

/** How many endpoints the slices have for each service port; those that are in several slices count as often. */
function countEndpoints(slices: readonly EndpointSlice[]): (port: PortIdentity) => number {
  const portsOf = portsInNameOrder(slices);
  return (port) => countOf(portsOf(port));
}

function countOf(ports: readonly SlicePort[]): number {
  return ports.reduce((sum, port) => sum + endpointCount(port), 0);
}

function limited(ports: readonly SlicePort[], most: number): readonly Endpoint[] {
  const taken: Endpoint[] = [];
  for (const isLocal of [true, false])
    for (const port of ports) {
      if (taken.length === most) return taken;
      taken.push(...firstUsable(port, isLocal, most - taken.length));
    }
  return taken;
}

type PortsOf = (port: PortIdentity) => readonly SlicePort[];

/** Of many ports: endpoints are counted first, and then merged. */
const known = new WeakMap<readonly EndpointSlice[], PortsOf>();

function portsInNameOrder(slices: readonly EndpointSlice[]): PortsOf {
  const found = known.get(slices);
  if (found) return found;
  const sorted = slices.length < 2 ? slices : [...slices].sort((a, b) => (a.name < b.name ? -1 : 1));
  const ports = sorted.flatMap((slice) => slice.ports);
  if (ports.length <= FEW) return searched(ports);
  const portsOf = indexed(ports);
  known.set(slices, portsOf);
  return portsOf;
}

function searched(ports: readonly SlicePort[]): PortsOf {
  return ({ port, protocol }) => ports.filter((each) => each.name === port && each.protocol === protocol);
}

function indexed(ports: readonly SlicePort[]): PortsOf {
  const index = grouped(ports, ({ protocol, name }) => `${protocol}/${name}`);
  return ({ port, protocol }) => index.get(`${protocol}/${port}`) ?? NO_PORTS;
}

const NO_PORTS: readonly SlicePort[] = [];
