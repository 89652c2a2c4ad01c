import type { Protocol, ServiceKey, ServicePortKey } from '../model/service-port-name.js';
import type { Service, ServicePortSpec } from '../model/service.js';
import type { IpFamily } from '../net/ip-family.js';
import type { ClusterState } from '../state/cluster-state.js';
import { frontendCount } from './forward-service.js';
import { requestedFrontends, type ForwardingEntry } from './forwarding-entry.js';
import type { PortPortion, ServicePart } from './forwarding-table.js';
import { LIGHT_PART, WEIGHT_AT_ONCE, weightOfEntry } from './waiting-changes.js';

/** Entries with one frontend, about, that are computed together. */
const FRONTENDS_AT_ONCE = 250;

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
   * What is computed next: all small Services, and of the large ones about as much as is programmed together, and at least a part of one.
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

  /** Undefined if the Service is computed as a whole: with few ports, or where ports share tables of slots. */
  private portionsOf(key: ServiceKey, start: number): Iterator<PortPortion, undefined> | undefined {
    const entries = this.entriesOf(key);
    const service = this.served(key);
    const ports = service?.ports ?? [];
    const frontends = service?.ports[0] ? frontendCount(service, service.ports[0]) : 1;
    const portsAtOnce = Math.ceil(this.frontendsAtOnce / frontends);
    if (Math.max(ports.length, entries.length) <= portsAtOnce) return undefined;
    if (entries.some(({ balancing, deniedBalancing }) => balancing ?? deniedBalancing)) return undefined;
    if (service && this.mayUseSlots(key, service)) return undefined;
    const from = ports.length === 0 ? 0 : start % ports.length;
    const ordered = from === 0 ? ports : [...ports.slice(from), ...ports.slice(0, from)];
    return divided(ordered, entries, portsAtOnce);
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

/** All ports of a Service, and all its entries, in portions. */
function* divided(
  ports: readonly ServicePortSpec[],
  entries: readonly ForwardingEntry[],
  portsAtOnce: number,
): Generator<PortPortion, undefined> {
  let left = ports.length + entries.length;
  let isFirst = true;
  let portion = { ports: [] as ServicePortSpec[], replaced: new Set<ServicePortKey>() };
  for (const group of groups(ports, entries)) {
    portion.ports.push(...group.ports);
    for (const { key } of group.entries) portion.replaced.add(key);
    left -= group.ports.length + group.entries.length;
    if (left > 0 && Math.max(portion.ports.length, portion.replaced.size) < portsAtOnce) continue;
    yield { ...portion, isFirst, isLast: left === 0 };
    isFirst = false;
    portion = { ports: [], replaced: new Set() };
  }
}

interface PortGroup {
  readonly ports: readonly ServicePortSpec[];
  /** Those that the ports replace. */
  readonly entries: readonly ForwardingEntry[];
}

/**
 * First each entry that goes, then each port that comes or moves, with the entries that it replaces, then the others. Whatever has a name or
 * a frontend in common is in one group, so that a frontend passes from one port to another at once.
 */
function* groups(
  ports: readonly ServicePortSpec[],
  entries: readonly ForwardingEntry[],
): Generator<PortGroup, undefined> {
  const { pairs, others } = paired(ports, entries);
  const changed = ports.filter((_, index) => !pairs[index]);
  if (others.length === 0) for (const port of changed) yield { ports: [port], entries: [] };
  else yield* linked(changed, others);
  for (const [index, port] of ports.entries()) {
    const entry = pairs[index];
    if (entry) yield { ports: [port], entries: [entry] };
  }
}

/** Of ports and entries of which some may have a name or a frontend in common. */
function* linked(
  ports: readonly ServicePortSpec[],
  entries: readonly ForwardingEntry[],
): Generator<PortGroup, undefined> {
  const coming = new Members(ports, placesOfPort);
  const replaced: ForwardingEntry[] = [];
  for (const entry of entries)
    if (coming.has(placesOfEntry(entry))) replaced.push(entry);
    else yield { ports: [], entries: [entry] };
  const present = new Members(replaced, placesOfEntry);
  for (const first of [...ports.map(placesOfPort), ...replaced.map(placesOfEntry)]) {
    const group = { ports: [] as ServicePortSpec[], entries: [] as ForwardingEntry[] };
    const found = [first];
    for (let places = found.pop(); places; places = found.pop()) {
      const [newPorts, newEntries] = [coming.take(places), present.take(places)];
      group.ports.push(...newPorts);
      group.entries.push(...newEntries);
      found.push(...newPorts.map(placesOfPort), ...newEntries.map(placesOfEntry));
    }
    if (group.ports.length + group.entries.length > 0) yield group;
  }
}

/** The entry of each port's name and frontends, which a port has that stays, and the other entries. Written for speed. */
function paired(
  ports: readonly ServicePortSpec[],
  entries: readonly ForwardingEntry[],
): {
  readonly pairs: readonly (ForwardingEntry | undefined)[];
  readonly others: readonly ForwardingEntry[];
} {
  const numbers = new Int32Array(PLACES);
  for (const [index, entry] of entries.entries())
    for (const place of placesOfEntry(entry).places) numbers[place] = index + 1;
  const isPaired = new Uint8Array(entries.length);
  const pairs = ports.map((port) => {
    const { name, places } = placesOfPort(port);
    const index = numbers[places[0]!]! - 1;
    const entry = entries[index];
    if (entry?.name.port !== name || !places.every((place) => [0, index + 1].includes(numbers[place]!)))
      return undefined;
    if (!placesOfEntry(entry).places.every((place) => places.includes(place))) return undefined;
    isPaired[index] = 1;
    return entry;
  });
  return { pairs, others: entries.filter((_, index) => !isPaired[index]) };
}

/** The key of a port within its Service, and its frontends. */
interface PortPlaces {
  readonly protocol: Protocol;
  readonly name: string;
  readonly places: readonly number[];
}

/** The ports of a Service, or its entries, by name and by frontend. Written for speed, as it is made in one piece. */
class Members<Member> {
  private readonly byName: Readonly<Record<Protocol, Map<string, number>>>;
  /** Numbers of members, from 1. */
  private readonly byPlace = new Int32Array(PLACES);
  private readonly taken: Uint8Array;

  constructor(
    private readonly members: readonly Member[],
    placesOf: (member: Member) => PortPlaces,
  ) {
    this.byName = { TCP: new Map(), UDP: new Map(), SCTP: new Map() };
    this.taken = new Uint8Array(members.length + 1);
    for (const [index, member] of members.entries()) {
      const { protocol, name, places } = placesOf(member);
      this.byName[protocol].set(name, index + 1);
      for (const place of places) this.byPlace[place] = index + 1;
    }
  }

  /** Whether one has this name, or one of the places. */
  has({ protocol, name, places }: PortPlaces): boolean {
    return this.byName[protocol].has(name) || places.some((place) => this.byPlace[place] !== 0);
  }

  /** Those that have this name, or one of the places, and that have not been taken before. */
  take({ protocol, name, places }: PortPlaces): readonly Member[] {
    const numbers = [this.byName[protocol].get(name) ?? 0, ...places.map((place) => this.byPlace[place]!)];
    return numbers.flatMap((number) => {
      if (number === 0 || this.taken[number]) return [];
      this.taken[number] = 1;
      return this.members[number - 1]!;
    });
  }
}

function placesOfPort({ name, protocol, port, nodePort }: ServicePortSpec): PortPlaces {
  const place = placeOf(protocol, port);
  const places = nodePort === 0 ? [place] : [place, placeOf(protocol, nodePort, true)];
  return { protocol, name, places };
}

function placesOfEntry(entry: ForwardingEntry): PortPlaces {
  const { protocol, port: name } = entry.name;
  const places = requestedFrontends(entry).map(({ address, port }) =>
    placeOf(protocol, port, address === undefined),
  );
  return { protocol, name, places };
}

const PROTOCOLS: Readonly<Record<Protocol, number>> = { TCP: 0, UDP: 1, SCTP: 2 };
const PLACES = (2 * 3) << 16;

/** A port of the Service's addresses, or of the node, as a number. */
function placeOf(protocol: Protocol, port: number, ofNode = false): number {
  return ((PROTOCOLS[protocol] * 2 + Number(ofNode)) << 16) + port;
}
