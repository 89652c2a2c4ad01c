import { PROTOCOLS, type Protocol, type ServiceKey } from '../model/service-port-name.js';
import type { Service, ServicePortSpec } from '../model/service.js';
import type { IpFamily } from '../net/ip-family.js';
import type { ClusterState } from '../state/cluster-state.js';
import { frontendCount } from './forward-service.js';
import { requestedFrontends, type ForwardingEntry } from './forwarding-entry.js';
import type { PortPortion, ServicePart } from './forwarding-table.js';
import { LIGHT_PART, WEIGHT_AT_ONCE, weightOfEntry } from './waiting-changes.js';

/** Entries with one frontend, about, that are computed together. */
const FRONTENDS_AT_ONCE = 250;

/**
 * The same in iptables mode, where each portion starts the tool: a Service of 20,000 ports is programmed 26 s after it comes, with 250
 * frontends at the same time after 63 s (iptables-nft 1.8.9, 2 busy cores, 2026-11-28).
 */
export const FRONTENDS_OF_IPTABLES_AT_ONCE = 1_000;

/** A Service that has changed. */
interface Work {
  /** Missing until its turn comes. */
  weight?: number;
  /** Missing until its turn comes, and where all its ports are computed together. */
  portions?: Iterator<PortPortion, undefined>;
  /** The port to begin with. */
  readonly start: number;
  /** The ports that have been computed since. */
  computed: number;
}

/**
 * The Services that have changed, and whose entries have not been computed since. They are handed out as `WaitingChanges` hands out
 * changes: the small ones together, of the large ones a portion of each in turn. A Service that changes in the middle of this begins again
 * with other ports, so that none of them waits for ever.
 */
export class UncomputedServices {
  private readonly works = new Map<ServiceKey, Work>();

  constructor(
    private readonly state: ClusterState,
    private readonly family: IpFamily,
    private readonly entriesOf: (service: ServiceKey) => readonly ForwardingEntry[],
    private readonly frontendsAtOnce = FRONTENDS_AT_ONCE,
    private readonly weightAtOnce = WEIGHT_AT_ONCE,
  ) {}

  get empty(): boolean {
    return this.works.size === 0;
  }

  includes(service: ServiceKey): boolean {
    return this.works.has(service);
  }

  /** The Service, or one of its slices, has changed. It keeps its place in the order. */
  add(service: ServiceKey): void {
    const { start, computed } = this.works.get(service) ?? { start: 0, computed: 0 };
    this.works.set(service, { start: start + computed, computed: 0 });
  }

  delete(service: ServiceKey): void {
    this.works.delete(service);
  }

  clear(): void {
    this.works.clear();
  }

  /**
   * The next parts to compute: all small Services, and of the large ones about as much as is programmed together, and at least a part of one.
   * @param waits whether changes of the Service wait to be programmed; such a Service is left
   */
  take(waits: (service: ServiceKey) => boolean): readonly ServicePart[] {
    let space = this.weightAtOnce;
    return [...this.works].flatMap(([service, work]): ServicePart | readonly never[] => {
      if (waits(service)) return [];
      work.weight ??= this.weightOf(service);
      if (work.weight <= this.weightAtOnce * LIGHT_PART) return this.whole(service);
      if (space < work.weight && space < this.weightAtOnce) return [];
      space -= work.weight;
      work.portions ??= this.portionsOf(service, work.start);
      return work.portions ? this.part(service, work, work.portions) : this.whole(service);
    });
  }

  private whole(service: ServiceKey): ServicePart {
    this.works.delete(service);
    return { service };
  }

  private part(service: ServiceKey, work: Work, portions: Iterator<PortPortion, undefined>): ServicePart {
    const portion = portions.next().value!;
    work.computed += portion.ports.length;
    // The next turn is that of another Service.
    this.works.delete(service);
    if (!portion.isLast) this.works.set(service, work);
    return { service, portion };
  }

  /** About as many elements of rules as the Service has, or gets; of more than a portion it counts no further. */
  private weightOf(key: ServiceKey): number {
    const service = this.served(key);
    const present = this.sumOf(this.entriesOf(key), weightOfEntry);
    if (!service || present > this.weightAtOnce) return present;
    const counts = this.state.endpointCounts(key, this.family);
    const coming = this.sumOf(service.ports, (port) => {
      const { name, protocol } = port;
      const others = 1 + service.sourceRanges.length;
      return frontendCount(service, port) * (counts({ port: name, protocol }) + others);
    });
    return Math.max(present, coming);
  }

  private sumOf<Item>(items: readonly Item[], weightOf: (item: Item) => number): number {
    let sum = 0;
    for (const item of items) if ((sum += weightOf(item)) > this.weightAtOnce) break;
    return sum;
  }

  /** Undefined if the Service is computed as a whole: with few ports, or where ports share tables of slots or exchange frontends. */
  private portionsOf(key: ServiceKey, start: number): Iterator<PortPortion, undefined> | undefined {
    const entries = this.entriesOf(key);
    const service = this.served(key);
    const ports = service?.ports ?? [];
    const frontends = service?.ports[0] ? frontendCount(service, service.ports[0]) : 1;
    const portsAtOnce = Math.ceil(this.frontendsAtOnce / frontends);
    if (Math.max(ports.length, entries.length) <= portsAtOnce) return undefined;
    if (entries.some(({ balancing, deniedBalancing }) => balancing ?? deniedBalancing)) return undefined;
    if (service && this.mayUseSlots(key, service)) return undefined;
    if (exchangeFrontends(ports, entries)) return undefined;
    return divided(ports, entries, start, portsAtOnce);
  }

  private mayUseSlots(key: ServiceKey, { scheduler, balancingMethod, weights }: Service): boolean {
    if (scheduler !== undefined || balancingMethod !== undefined || weights !== undefined) return true;
    // All ports of a slice have the same endpoints.
    return this.state
      .slicesOf(key)
      .some(({ ports }) => ports[0]?.endpoints.some(({ weight }) => weight !== undefined));
  }

  private served(key: ServiceKey): Service | undefined {
    const service = this.state.service(key);
    return service?.clusterIPs[this.family] === undefined ? undefined : service;
  }
}

/** The entries of a Service that go, then its ports, beginning with one of them, in portions. */
function* divided(
  ports: readonly ServicePortSpec[],
  entries: readonly ForwardingEntry[],
  start: number,
  atOnce: number,
): Generator<PortPortion, undefined> {
  const names = new Set(ports.map(({ protocol, name }) => `${protocol}/${name}`));
  const gone = entries.flatMap(({ key, name: { protocol, port } }) =>
    names.has(`${protocol}/${port}`) ? [] : key,
  );
  const begin = ports.length === 0 ? 0 : start % ports.length;
  const ordered = [...ports.slice(begin), ...ports.slice(0, begin)];
  const count = gone.length + ordered.length;
  for (let from = 0; from < count; from += atOnce) {
    const to = from + atOnce;
    yield {
      gone: gone.slice(from, to),
      ports: ordered.slice(Math.max(0, from - gone.length), Math.max(0, to - gone.length)),
      isFirst: from === 0,
      isLast: to >= count,
    };
  }
}

/** Whether a port requests a frontend that the entry of another port of the Service has. */
function exchangeFrontends(ports: readonly ServicePortSpec[], entries: readonly ForwardingEntry[]): boolean {
  const owners = new Map<number, string>();
  for (const entry of entries)
    for (const { address, port } of requestedFrontends(entry))
      owners.set(placeOf(entry.name.protocol, port, address === undefined), entry.name.port);
  return ports.some(({ name, protocol, port, nodePort }) =>
    [placeOf(protocol, port), placeOf(protocol, nodePort, true)].some(
      (place) => (owners.get(place) ?? name) !== name,
    ),
  );
}

/** A port of the Service's addresses, or of the node, as a number. */
function placeOf(protocol: Protocol, port: number, ofNode = false): number {
  return ((PROTOCOLS.indexOf(protocol) * 2 + Number(ofNode)) << 16) + port;
}
