import {
  isExternal,
  shortCircuits,
  type ForwardingEntry,
  type Frontend,
  frontendName,
} from '../forwarding/forwarding-entry.js';
import { forEachPlace, samePlace, sortedOnce, type Endpoint } from '../model/endpoint.js';
import { flatText } from '../model/text.js';
import { addressBits, type Cidr } from '../net/cidr.js';
import { digestOf } from './digest.js';
import {
  chosenFrom,
  endpointNumbers,
  namedNumbers,
  type EndpointIds,
  type EndpointNumbers,
  slotsOfList,
  type ListName,
} from './endpoint-numbers.js';
import { frontendComment } from './safe-text.js';
import {
  BY_ADDRESS,
  BY_NODE_PORT,
  type FrontendVariant,
  RESTRICTED_FRONTENDS,
  setsOf,
  sourcesSet,
} from './layout/sets.js';
import { FIRST_NUMBER } from './layout/node-rules.js';
import { formatPriority, type SetDefinition } from './layout/table.js';
import { sourcesStructure, structuresOfClass, type Structure } from './layout/structure.js';
import { classNumber, type TrafficClass } from './layout/traffic-class.js';
import { tableText } from './slots-part.js';
import type { ElementChanges, PlacedElement, TablePart } from './state/service-port-rules.js';

/** The endpoints of a list: those that positions lead to, and those that slots lead to, sorted, with their numbers. */
interface Numbered {
  readonly inOrder: readonly Endpoint[];
  readonly named: readonly Endpoint[];
  readonly numbers: readonly string[];
}

const NOTHING: Numbered = { inOrder: [], named: [], numbers: [] };

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
 * All elements of one frontend. They are compiled again each time that they are read: kept, those of 10,000 services of 5
 * endpoints take 16 MB, three times as much as the forwarding entries.
 */
export class FrontendPart implements TablePart {
  readonly key: string;

  /** @param longNumbers the numbers of its endpoints, if they are many; otherwise these are made when they are needed, too */
  constructor(
    private readonly entry: ForwardingEntry,
    private readonly source: Frontend,
    readonly longNumbers?: EndpointNumbers,
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
    const { ids } = this.numbers;
    return ids && [...ids.values()];
  }

  get listed(): readonly PlacedElement[] {
    const { key, source, entry } = this;
    const sets = setsOf(this.variant);
    const comment = frontendComment(entry.name);
    const digest = digestOf(entry, source, this.longNumbers);
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
    const numbersOfAll = this.numbers;
    const { ids } = numbersOfAll;
    const elements = this.besidesEndpoints;
    for (const [set, { inOrder, named, numbers }] of this.numbered(numbersOfAll)) {
      inOrder.forEach((endpoint, position) =>
        elements.push(this.numberedElement(set, numberText(position), endpoint, ids)),
      );
      named.forEach((endpoint, index) =>
        elements.push(this.numberedElement(set, numbers[index]!, endpoint, ids)),
      );
    }
    for (const endpoint of this.identified) elements.push(this.idElement(endpoint, ids!));
    return elements;
  }

  /** Passes over endpoints that stay, without a text for them: of a long list few change. */
  changesFrom(former: TablePart): ElementChanges | undefined {
    if (!(former instanceof FrontendPart)) return undefined;
    const [removed, added] = [former.besidesEndpoints, this.besidesEndpoints];
    const [before, after] = [former.numbers, this.numbers];
    former.without(before, this, after, removed);
    this.without(after, former, before, added);
    return { removed, added };
  }

  /** Adds the elements of its endpoints that the other one does not have. */
  private without(
    own: EndpointNumbers,
    other: FrontendPart,
    others: EndpointNumbers,
    elements: PlacedElement[],
  ): void {
    const [{ ids }, { ids: otherIds }] = [own, others];
    const isSame = (one: Endpoint, another: Endpoint | undefined): boolean =>
      another !== undefined && samePlace(one, another) && ids?.get(one) === otherIds?.get(another);
    const othersBySet = other.numbered(others);
    for (const [set, { inOrder, named, numbers }] of this.numbered(own)) {
      const before = othersBySet.get(set) ?? NOTHING;
      inOrder.forEach((endpoint, position) => {
        if (!isSame(endpoint, before.inOrder[position]))
          elements.push(this.numberedElement(set, numberText(position), endpoint, ids));
      });
      forEachPlace(named, before.named, (index, found) => {
        const number = numbers[index]!;
        if (number !== before.numbers[found] || !isSame(named[index]!, before.named[found]))
          elements.push(this.numberedElement(set, number, named[index]!, ids));
      });
    }
    const [identified, before] = [this.identified, other.identified];
    forEachPlace(identified, before, (index, found) => {
      if (!isSame(identified[index]!, before[found])) elements.push(this.idElement(identified[index]!, ids!));
    });
  }

  /** Computed for each call if the lists are short. */
  private get numbers(): EndpointNumbers {
    return this.longNumbers ?? endpointNumbers(this.entry);
  }

  /** All elements but those of endpoints. */
  private get besidesEndpoints(): PlacedElement[] {
    return [...this.listed, ...this.ways().flatMap((way) => this.leading(way))];
  }

  /** The targets that lead to the endpoints, beside the listed elements. */
  private leading(way: Way): readonly PlacedElement[] {
    const { entry, key } = this;
    const elements: PlacedElement[] = [];
    if (way.kind === 'short-circuit') elements.push(placed(way.map, key, this.classNumberOf(way)));
    if (slotsOfList(entry, way.name) !== undefined)
      elements.push(placed(way.tables, key, tableText(entry, way.name)));
    return elements;
  }

  /** Its lists, each by the set that has it. */
  private numbered({ ids, lists }: EndpointNumbers): ReadonlyMap<SetDefinition, Numbered> {
    return new Map(
      this.ways().map((way) => {
        const { list, order } = lists[way.name];
        const set = ids ? way.stickyList : way.list;
        if (slotsOfList(this.entry, way.name) === undefined) return [set, { ...NOTHING, inOrder: order }];
        // With a table, the first is what packets get that are on their way while it changes.
        const inOrder = ids ? order : order.slice(0, 1);
        return [set, { inOrder, named: list, numbers: namedNumbers(list) }];
      }),
    );
  }

  /** A number leads to an id with affinity, otherwise to an address. */
  private numberedElement(
    set: SetDefinition,
    number: string,
    endpoint: Endpoint,
    ids?: EndpointIds,
  ): PlacedElement {
    return placed(set, flatText(this.key, ' . ', number), ids ? ids.get(endpoint)! : addressValue(endpoint));
  }

  /** With affinity: the endpoints that ids lead to, sorted. */
  private get identified(): readonly Endpoint[] {
    if (this.entry.affinitySeconds === 0) return [];
    return sortedOnce(this.ways().flatMap(({ endpoints }) => endpoints));
  }

  /** The address of the endpoint with that id. */
  private idElement(endpoint: Endpoint, ids: EndpointIds): PlacedElement {
    const { affinityEndpoints } = setsOf(this.variant);
    return placed(affinityEndpoints, `${this.key} . ${ids.get(endpoint)!}`, addressValue(endpoint));
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
    const method = length < 2 ? undefined : balancing?.method;
    // Open connections determine which slots there are, not how one is drawn.
    const chosen = method && method !== 'random' && method !== 'least-connections' ? { method } : undefined;
    if (slots === undefined) return { variant, kind, count: length, affinitySeconds, ...chosen };
    const count = affinitySeconds > 0 ? 2 ** Math.ceil(Math.log2(length)) : 1;
    return { variant, kind, count, affinitySeconds, ...chosen, slots };
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
