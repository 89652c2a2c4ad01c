import {
  isExternal,
  shortCircuits,
  type ForwardingEntry,
  type Frontend,
} from '../forwarding/forwarding-entry.js';
import { frontendName } from '../forwarding/frontend-name.js';
import { endpointPlace, type Endpoint } from '../model/endpoint.js';
import { flatText } from '../model/flat-text.js';
import { addressBits, type Cidr } from '../net/cidr.js';
import { digestOf } from './digest.js';
import { endpointIds, namedNumbers } from './endpoint-ids.js';
import { frontendComment } from './frontend-names.js';
import { BY_ADDRESS, BY_NODE_PORT, type FrontendVariant } from './layout/keys.js';
import { FIRST_NUMBER } from './layout/node-rules.js';
import { formatPriority } from './layout/priority.js';
import { RESTRICTED_FRONTENDS, setsOf, sourcesSet } from './layout/sets.js';
import { sourcesStructure, structuresOfClass, type Structure } from './layout/structure.js';
import type { SetDefinition } from './layout/table.js';
import { classNumber, type TrafficClass } from './layout/traffic-class.js';
import { chosenFrom, slotsOfList, tableText, type ListName } from './slots-part.js';
import type { ElementChanges, PlacedElement, TablePart } from './state/service-port-rules.js';

type Ids = ReadonlyMap<string, number>;
type NumberedLists = ReadonlyMap<SetDefinition, ReadonlyMap<string, Endpoint>>;

const NO_SOURCES = new Map<string, never>();

/** One of the ways that packets to a frontend go: by its class in a map, and the list that the class picks from. */
interface Way {
  readonly map: SetDefinition;
  readonly kind: TrafficClass['kind'];
  readonly name: ListName;
  readonly endpoints: readonly Endpoint[];
  /** The list, by number. */
  readonly list: SetDefinition;
  /** The same with session affinity. */
  readonly stickyList: SetDefinition;
  /** Where the list has a table, the frontend's number of it. */
  readonly tables: SetDefinition;
}

/**
 * All elements of one frontend. They are compiled again each time that they are asked for: kept, those of 10,000 services of 5
 * endpoints take 16 MB, three times as much as the forwarding entries.
 */
export class FrontendPart implements TablePart {
  readonly key: string;

  constructor(
    private readonly entry: ForwardingEntry,
    private readonly source: Frontend,
  ) {
    const { address, port } = source;
    const protocolPort = [entry.name.protocol.toLowerCase(), port];
    this.key = (address === undefined ? protocolPort : [address, ...protocolPort]).join(' . ');
  }

  get frontend(): string {
    return frontendName(this.source.address, this.source.port, this.entry.name.protocol);
  }

  get uses(): readonly Structure[] {
    const structures = this.ways().flatMap((way) => structuresOfClass(this.classOf(way)));
    for (const { prefixLength } of this.sources().values()) structures.push(sourcesStructure(prefixLength));
    return structures;
  }

  /** The lists that it chooses from. */
  get lists(): readonly ListName[] {
    return this.ways().map(({ name }) => name);
  }

  get ids(): readonly string[] | undefined {
    if (this.entry.affinitySeconds === 0) return undefined;
    return Array.from(endpointIds(this.entry).values(), formatPriority);
  }

  get listed(): readonly PlacedElement[] {
    const { key, source, entry } = this;
    const sets = setsOf(this.variant);
    const comment = frontendComment(entry.name);
    const digest = digestOf(entry, source);
    const elements: PlacedElement[] = [];
    if (source.outcome === 'reject') elements.push(placed(sets.noEndpoints, key, undefined, comment, digest));
    if (source.outcome === 'drop')
      elements.push(placed(sets.noLocalEndpoints, key, undefined, comment, digest));
    for (const way of this.ways())
      if (way.map === sets.frontends)
        elements.push(placed(way.map, key, this.classNumberOf(way), comment, digest));
    const sources = this.sources();
    if (sources.size > 0) elements.push(placed(RESTRICTED_FRONTENDS, key, undefined, comment, digest));
    for (const { address, prefixLength } of sources.values())
      elements.push(placed(sourcesSet(prefixLength), `${key} . ${address}`));
    return elements;
  }

  get elements(): readonly PlacedElement[] {
    const elements = this.listed.slice();
    const ways = this.ways();
    const ids = this.entry.affinitySeconds > 0 ? endpointIds(this.entry) : undefined;
    for (const way of ways) {
      const set = ids ? way.stickyList : way.list;
      elements.push(...this.leading(way));
      this.forEachNumber(way, (number, endpoint) =>
        elements.push(this.numberedElement(set, number, endpoint, ids)),
      );
    }
    if (ids) this.identify(ways, ids, elements);
    return elements;
  }

  /** Passes over endpoints that stay, without a text for them: of a long list few change. */
  changesFrom(former: TablePart): ElementChanges | undefined {
    if (!(former instanceof FrontendPart)) return undefined;
    if (this.entry.affinitySeconds > 0 || former.entry.affinitySeconds > 0) return undefined;
    const [removed, added] = [former.besidesEndpoints, this.besidesEndpoints];
    const [before, after] = [former.numberedBySet(), this.numberedBySet()];
    const without = (
      part: FrontendPart,
      lists: NumberedLists,
      others: NumberedLists,
      to: PlacedElement[],
    ) => {
      for (const [set, list] of lists)
        for (const [number, endpoint] of list)
          if (!samePlace(others.get(set)?.get(number), endpoint))
            to.push(part.numberedElement(set, number, endpoint));
    };
    without(former, before, after, removed);
    without(this, after, before, added);
    return { removed, added };
  }

  private get besidesEndpoints(): PlacedElement[] {
    return [...this.listed, ...this.ways().flatMap((way) => this.leading(way))];
  }

  /** What leads to the endpoints of a way, beside the listed elements. */
  private leading(way: Way): readonly PlacedElement[] {
    const { entry, key } = this;
    const elements: PlacedElement[] = [];
    if (way.kind === 'short-circuit') elements.push(placed(way.map, key, this.classNumberOf(way)));
    if (slotsOfList(entry, way.name) !== undefined)
      elements.push(placed(way.tables, key, tableText(entry, way.name)));
    return elements;
  }

  private numberedBySet(): NumberedLists {
    return new Map(
      this.ways().map((way) => {
        const numbered = new Map<string, Endpoint>();
        this.forEachNumber(way, (number, endpoint) => numbered.set(number, endpoint));
        return [way.list, numbered];
      }),
    );
  }

  /** Numbers the endpoints of a list. */
  private forEachNumber({ name }: Way, take: (number: string, endpoint: Endpoint) => void): void {
    const endpoints = chosenFrom(this.entry, name);
    const hasTable = slotsOfList(this.entry, name) !== undefined;
    // With a table, the first is what packets get that are on their way while it changes.
    const inOrder =
      hasTable && this.entry.affinitySeconds === 0 ? Math.min(1, endpoints.length) : endpoints.length;
    for (let position = 0; position < inOrder; position++) take(numberText(position), endpoints[position]!);
    if (hasTable) namedNumbers(endpoints).forEach((number, place) => take(number, endpoints[place]!));
  }

  /** A number leads to an id with affinity, otherwise to an address. */
  private numberedElement(set: SetDefinition, number: string, endpoint: Endpoint, ids?: Ids): PlacedElement {
    const value = ids ? formatPriority(ids.get(endpointPlace(endpoint))!) : addressValue(endpoint);
    return placed(set, flatText(this.key, ' . ', number), value);
  }

  private get variant(): FrontendVariant {
    return this.source.address === undefined ? BY_NODE_PORT : BY_ADDRESS;
  }

  private ways(): readonly Way[] {
    const { entry, source } = this;
    const { cluster = [], local = [] } = entry.endpoints;
    const sets = setsOf(this.variant);
    const takesShortCircuits = shortCircuits(entry, source);
    if (!takesShortCircuits && source.outcome !== 'forward') return [];
    const general: Way = {
      map: sets.frontends,
      kind: takesShortCircuits ? 'external-local' : isExternal(source) ? 'external' : 'pick',
      name: source.policy === 'Local' ? 'local' : 'cluster',
      endpoints: source.policy === 'Local' ? local : cluster,
      list: sets.endpoints,
      stickyList: sets.affinityIds,
      tables: sets.tables,
    };
    if (!takesShortCircuits) return [general];
    const shortCircuit: Way = {
      map: sets.shortCircuits,
      kind: 'short-circuit',
      name: 'cluster',
      endpoints: cluster,
      list: sets.shortCircuitEndpoints,
      stickyList: sets.shortCircuitAffinityIds,
      tables: sets.shortCircuitTables,
    };
    return [general, shortCircuit];
  }

  /** The traffic class, as the value of an element. */
  private classNumberOf(way: Way): string {
    return formatPriority(classNumber(this.classOf(way)));
  }

  private classOf({ kind, name }: Way): TrafficClass {
    const { entry, variant } = this;
    const { affinitySeconds, balancing } = entry;
    const { length } = chosenFrom(entry, name);
    const slots = slotsOfList(entry, name);
    const method = !balancing || balancing.method === 'random' || length < 2 ? undefined : balancing.method;
    const chosen = method && { method };
    if (slots === undefined) return { variant, kind, count: length, affinitySeconds, ...chosen };
    const count = affinitySeconds > 0 ? 2 ** Math.ceil(Math.log2(length)) : 1;
    return { variant, kind, count, affinitySeconds, ...chosen, slots };
  }

  /** With affinity: the address of the endpoint with each id. */
  private identify(ways: readonly Way[], ids: Ids, elements: PlacedElement[]): void {
    const { affinityEndpoints } = setsOf(this.variant);
    const lists = ways.map(({ endpoints }) => endpoints).reverse();
    const byPlace = new Map(lists.flat().map((endpoint) => [endpointPlace(endpoint), endpoint]));
    for (const [place, endpoint] of byPlace) {
      const key = `${this.key} . ${formatPriority(ids.get(place)!)}`;
      elements.push(placed(affinityEndpoints, key, addressValue(endpoint)));
    }
  }

  /**
   * The ranges that may reach a load-balancer IP, each once; none if all may. A virtual address may itself be the source of the
   * node's own packets, so ranges that cover the node admit it.
   */
  private sources(): ReadonlyMap<string, Pick<Cidr, 'address' | 'prefixLength'>> {
    const { sourceRanges, sourceRangesCoverNode, frontends, family } = this.entry;
    if (this.source.kind !== 'load-balancer-ip' || sourceRanges.length === 0) return NO_SOURCES;
    const virtual = frontends.filter(({ kind }) => kind === 'load-balancer-ip');
    const prefixLength = addressBits(family);
    const own = sourceRangesCoverNode
      ? virtual.map(({ address }) => ({ address: address!, prefixLength }))
      : [];
    return new Map(
      [...sourceRanges, ...own].map((range) => [`${range.address}/${range.prefixLength}`, range]),
    );
  }
}

function samePlace(one: Endpoint | undefined, other: Endpoint): boolean {
  return one?.address === other.address && one.port === other.port;
}

function addressValue({ address, port }: Endpoint): string {
  return flatText(address, ' . ', String(port));
}

const numberTexts: string[] = [];

/** The text of an endpoint's number, by its position in the list. Cached, since all lists share the same few. */
function numberText(position: number): string {
  return (numberTexts[position] ??= formatPriority(FIRST_NUMBER + position));
}

/** All elements have the same fields in the same order, so that V8 keeps them alike. */
function placed(
  set: SetDefinition,
  key: string,
  value?: string,
  comment?: string,
  digest?: number,
): PlacedElement {
  return { set, key, value, comment, digest };
}
