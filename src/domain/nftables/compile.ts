import {
  isExternal,
  shortCircuits,
  type ForwardingEntry,
  type Frontend,
} from '../forwarding/forwarding-entry.js';
import type { Endpoint } from '../model/endpoint.js';
import { displayName, type Protocol, type ServicePortName } from '../model/service-port-name.js';
import { flatText } from '../model/flat-text.js';
import { hostPort } from '../net/address.js';
import { addressBits, type Cidr } from '../net/cidr.js';
import { endpointIds } from './endpoint-ids.js';
import { digestOf } from './digest.js';
import type { NftablesServicePortRules, TablePart, PlacedElement } from './state/service-port-rules.js';
import { BY_ADDRESS, BY_NODE_PORT, type FrontendVariant } from './layout/keys.js';
import { FIRST_NUMBER } from './layout/node-rules.js';
import { formatPriority } from './layout/priority.js';
import { CLUSTER_IPS, RESTRICTED_FRONTENDS, HAIRPIN_CONNECTIONS, setsOf, sourcesSet } from './layout/sets.js';
import { sourcesStructure, structuresOfClass, type Structure } from './layout/structure.js';
import type { SetDefinition } from './layout/table.js';
import { classNumber, MAX_AFFINITY_ENDPOINTS, type TrafficClass } from './layout/traffic-class.js';

type Ids = ReadonlyMap<string, number>;

const NO_STRUCTURES: readonly Structure[] = [];
const NO_SOURCES = new Map<string, never>();

/** nft refuses comments longer than 128 characters, and with them the whole transaction. */
const MAX_COMMENT = 128;

/**
 * Compiles one service port into its rules in the table of its family.
 * @param former its present rules; what service ports share is taken over, so that nothing compares it
 */
export function compileNftables(
  entry: ForwardingEntry,
  former: NftablesServicePortRules = [],
): NftablesServicePortRules {
  const parts: TablePart[] = [];
  for (const frontend of entry.frontends) parts.push(new FrontendPart(entry, frontend));
  const formerShared = new Map(
    former.flatMap((part) => (part instanceof SharedPart ? [[part.key, part]] : [])),
  );
  for (const part of sharedParts(entry)) parts.push(formerShared.get(part.key) ?? part);
  return eachOnce(parts);
}

/** What the service port may share with others. */
function sharedParts({ name, frontends, endpoints }: ForwardingEntry): readonly SharedPart[] {
  const parts: SharedPart[] = [];
  for (const { address, kind } of frontends) {
    if (kind === 'cluster-ip') parts.push(new SharedPart(CLUSTER_IPS, address!));
  }
  const protocol = name.protocol.toLowerCase();
  for (const { isLocal, address, port } of endpoints.reachable) {
    if (isLocal)
      parts.push(new SharedPart(HAIRPIN_CONNECTIONS, `${address} . ${address} . ${protocol} . ${port}`));
  }
  return parts;
}

/** One address may be both an external IP and a load-balancer IP: the latter wins, since it may restrict sources. */
function eachOnce(parts: readonly TablePart[]): NftablesServicePortRules {
  const byKey = new Map(parts.map((part) => [part.key, part]));
  return byKey.size === parts.length ? parts.slice() : [...byKey.values()];
}

/** The comment of a frontend's elements, which names its service port. */
export function frontendComment(name: ServicePortName): string {
  return displayName(name).slice(0, MAX_COMMENT);
}

/** A frontend in the form that people use: `10.96.0.10:53/UDP`, `node port 30053/UDP`. */
export function frontendText(address: string | undefined, port: number, protocol: Protocol): string {
  return `${address === undefined ? `node port ${port}` : hostPort(address, port)}/${protocol}`;
}

/** One of the ways that packets to a frontend go: by its class in a map, and the list that the class picks from. */
interface Way {
  readonly map: SetDefinition;
  readonly kind: TrafficClass['kind'];
  readonly endpoints: readonly Endpoint[];
  /** The list, by number. */
  readonly list: SetDefinition;
  /** The same with session affinity. */
  readonly stickyList: SetDefinition;
}

/**
 * All elements of one frontend. They are compiled again each time that they are asked for: kept, those of 10,000 services of 5
 * endpoints take 16 MB, three times as much as the forwarding entries.
 */
class FrontendPart implements TablePart {
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
    return frontendText(this.source.address, this.source.port, this.entry.name.protocol);
  }

  get uses(): readonly Structure[] {
    const structures = this.ways().map((way) => structuresOfClass(this.classOf(way)));
    const sources = [...this.sources().values()].map(({ prefixLength }) => sourcesStructure(prefixLength));
    return [...structures.flat(), ...sources];
  }

  get elements(): readonly PlacedElement[] {
    const { key, source, entry } = this;
    const sets = setsOf(this.variant);
    const comment = frontendComment(entry.name);
    const elements: PlacedElement[] = [];
    if (source.outcome === 'reject') elements.push(placed(sets.noEndpoints, key, undefined, comment));
    if (source.outcome === 'drop') elements.push(placed(sets.noLocalEndpoints, key, undefined, comment));
    const ways = this.ways();
    const ids = entry.affinitySeconds > 0 ? endpointIds(entry) : undefined;
    for (const way of ways) {
      const number = formatPriority(classNumber(this.classOf(way)));
      elements.push(placed(way.map, key, number, way.kind === 'short-circuit' ? undefined : comment));
      this.list(way, ids, elements);
    }
    if (ids) this.identify(ways, ids, elements);
    const sources = this.sources();
    if (sources.size > 0) elements.push(placed(RESTRICTED_FRONTENDS, key, undefined, comment));
    for (const { address, prefixLength } of sources.values())
      elements.push(placed(sourcesSet(prefixLength), `${key} . ${address}`));
    return this.withDigest(elements);
  }

  /** A process that finds the digest need not look for anything that belongs to the frontend, shared or not. */
  private withDigest(elements: PlacedElement[]): readonly PlacedElement[] {
    const shared = sharedParts(this.entry).map(({ key }) => key);
    const digest = digestOf(elements, shared);
    return elements.map((element) => (element.comment === undefined ? element : { ...element, digest }));
  }

  private get variant(): FrontendVariant {
    return this.source.address === undefined ? BY_NODE_PORT : BY_ADDRESS;
  }

  private ways(): readonly Way[] {
    const { entry, source } = this;
    const { cluster = [], local = [] } = entry.endpoints;
    const sets = setsOf(this.variant);
    const general = {
      map: sets.frontends,
      endpoints: source.policy === 'Local' ? local : cluster,
      list: sets.endpoints,
      stickyList: sets.affinityIds,
    };
    if (shortCircuits(entry, source)) {
      const shortCircuit: Way = {
        map: sets.shortCircuits,
        kind: 'short-circuit',
        endpoints: cluster,
        list: sets.shortCircuitEndpoints,
        stickyList: sets.shortCircuitAffinityIds,
      };
      return [{ ...general, kind: 'external-local' }, shortCircuit];
    }
    if (source.outcome !== 'forward') return [];
    return [{ ...general, kind: isExternal(source) ? 'external' : 'pick' }];
  }

  private classOf({ kind, endpoints }: Way): TrafficClass {
    const { affinitySeconds } = this.entry;
    const count = affinitySeconds > 0 ? Math.min(endpoints.length, MAX_AFFINITY_ENDPOINTS) : endpoints.length;
    return { variant: this.variant, kind, count, affinitySeconds };
  }

  /** Numbers the endpoints of a list: each number leads to an id with affinity, otherwise to an address. */
  private list({ endpoints, list, stickyList }: Way, ids: Ids | undefined, elements: PlacedElement[]): void {
    const numbered = ids ? limited(endpoints) : endpoints;
    numbered.forEach(({ text, address, port }, place) => {
      const key = flatText(this.key, ' . ', numberText(place));
      const value = ids ? formatPriority(ids.get(text)!) : flatText(address, ' . ', String(port));
      elements.push(placed(ids ? stickyList : list, key, value));
    });
  }

  /** With affinity: the address of the endpoint with each id. */
  private identify(ways: readonly Way[], ids: Ids, elements: PlacedElement[]): void {
    const { affinityEndpoints } = setsOf(this.variant);
    const lists = ways.map(({ endpoints }) => endpoints).reverse();
    const byText = new Map(lists.flat().map((endpoint) => [endpoint.text, endpoint]));
    for (const { text, address, port } of byText.values()) {
      const key = `${this.key} . ${formatPriority(ids.get(text)!)}`;
      elements.push(placed(affinityEndpoints, key, `${address} . ${port}`));
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

function limited(endpoints: readonly Endpoint[]): readonly Endpoint[] {
  return endpoints.length > MAX_AFFINITY_ENDPOINTS ? endpoints.slice(0, MAX_AFFINITY_ENDPOINTS) : endpoints;
}

const numberTexts: string[] = [];

/** The text of an endpoint's number, by its position in the list. Cached, since all lists share the same few. */
function numberText(place: number): string {
  return (numberTexts[place] ??= formatPriority(FIRST_NUMBER + place));
}

/** An element that service ports share. */
class SharedPart implements TablePart {
  readonly uses: readonly Structure[] = NO_STRUCTURES;

  constructor(
    private readonly set: SetDefinition,
    private readonly elementKey: string,
  ) {}

  get key(): string {
    return flatText(this.set.name, ' ', this.elementKey);
  }

  get elements(): readonly PlacedElement[] {
    return [placed(this.set, this.elementKey)];
  }
}

function placed(set: SetDefinition, key: string, value?: string, comment?: string): PlacedElement {
  return { set, key, value, comment };
}
