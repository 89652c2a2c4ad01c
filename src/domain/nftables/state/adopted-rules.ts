import { frontendName } from '../../forwarding/forwarding-entry.js';
import { getOrMake } from '../../model/maps.js';
import {
  serviceOf,
  servicePortName,
  type Protocol,
  type ServiceKey,
  type ServicePortKey,
  type ServicePortName,
} from '../../model/service-port-name.js';
import { isUnexplained } from '../../reconcile/claims.js';
import type { AdoptedRules } from '../../reconcile/desired-state.js';
import { listedKubeProxyMaps, servicePortInVerdict } from '../layout/kube-proxy-maps.js';
import { FIRST_NUMBER } from '../layout/node-rules.js';
import {
  BY_NODE_PORT,
  VARIANTS,
  type FrontendVariant,
  CLUSTER_IPS,
  RESTRICTED_FRONTENDS,
  HAIRPIN_CONNECTIONS,
  LOOKED_UP_SETS,
  setsOf,
  SOURCES_SETS,
} from '../layout/sets.js';
import { sourcesStructure, structuresOfClass, type Structure } from '../layout/structure.js';
import { formatPriority, parsePriority, type SetDefinition, type SetElement } from '../layout/table.js';
import { classOfNumber } from '../layout/traffic-class.js';
import { frontendComment } from '../safe-text.js';
import { rejectedNodePort, SharedPart } from '../shared-part.js';
import { adoptedSlots } from '../slots-part.js';
import type { NftablesDesiredState } from './desired-state.js';
import type { NftablesServicePortRules, TablePart, PlacedElement } from './service-port-rules.js';

/** The elements of a table's sets, by name and key. Of a table that kube-proxy wrote, its maps and what it shares with ours. */
export type AdoptedSets = ReadonlyMap<string, { readonly elements: ReadonlyMap<string, SetElement> }>;

/** Finds an element by the name of its set and its key. */
export interface ElementLookup {
  element(set: string, key: string): SetElement | undefined;
}

/**
 * The rules of an earlier process in the table, by the comment that names its service port. Compiled rules are restored
 * with the same parts, their elements in any order.
 */
export class NftablesAdoptedRules implements AdoptedRules<NftablesServicePortRules>, ElementLookup {
  private index: AdoptedIndex | undefined;

  constructor(
    private readonly sets: AdoptedSets,
    /** Knows which service port holds a part by now. */
    private readonly desired: Pick<NftablesDesiredState, 'parts'>,
    /** Parts of the desired state that the table has, too, and `sets` leave out. */
    private readonly verified: ReadonlySet<TablePart> = new Set(),
    /** Node ports of these protocols are rejected on loopback addresses. */
    private readonly rejected: readonly Protocol[] = [],
  ) {}

  labelsOf(name: ServicePortName, wanted: NftablesServicePortRules = []): readonly string[] {
    return [frontendComment(name), ...wanted.map(({ key }) => key)];
  }

  labels(): Iterable<string> {
    return this.indexed().frontends.keys();
  }

  rules(labels: readonly string[], owner: ServicePortKey): NftablesServicePortRules | undefined {
    const { frontends, sources } = this.indexed();
    const parts = labels
      .flatMap((label) => frontends.get(label) ?? this.ofItsService(label, owner))
      .filter(({ key }) => isUnexplained(owner) || protocolOf(key) === servicePortName(owner).protocol)
      .filter(({ key }) => !this.isClaimedByOthersOnly(key, owner))
      .flatMap((frontend) => [
        ...adoptedParts(this, frontend, sources.get(frontend.key)),
        ...this.rejections(frontend),
      ]);
    if (parts.some(({ isKubeProxys }) => isKubeProxys)) parts.push(...this.allHairpins());
    const own = (this.desired.parts.of(owner) ?? []).filter((part) => this.verified.has(part));
    const byKey = new Map([...parts, ...own].map((part) => [part.key, part]));
    return byKey.size > 0 ? [...byKey.values()] : undefined;
  }

  element(set: string, key: string): SetElement | undefined {
    return this.sets.get(set)?.elements.get(key);
  }

  /** The frontend of that key, if a port of the owner's Service has it. */
  private ofItsService(key: string, owner: ServicePortKey): readonly AdoptedFrontend[] {
    const found = this.indexed().byKey.get(key);
    return found && found.service === serviceOf(owner) ? [found.frontend] : [];
  }

  private isClaimedByOthersOnly(key: string, owner: ServicePortKey): boolean {
    const isOwn = () => this.desired.parts.of(owner)?.some((part) => part.key === key);
    return (this.desired.parts.ownerOf(key) ?? owner) !== owner && !isOwn();
  }

  private rejections({ variant, key }: AdoptedFrontend): readonly TablePart[] {
    if (variant !== BY_NODE_PORT || !this.rejected.includes(protocolOf(key))) return [];
    return [rejectedNodePort(protocolOf(key), Number(key.split(' . ')[1]))];
  }

  /** Which of kube-proxy's hairpin connections belong to which of its service ports, the table does not show. */
  private allHairpins(): readonly TablePart[] {
    const present = this.sets.get(HAIRPIN_CONNECTIONS.name)?.elements.keys() ?? [];
    return Array.from(present, (key) => new SharedPart(HAIRPIN_CONNECTIONS, key));
  }

  private indexed(): AdoptedIndex {
    return (this.index ??= this.makeIndex());
  }

  private makeIndex(): AdoptedIndex {
    const frontends = this.byComment();
    const byKey = new Map<string, OwnedFrontend>();
    for (const [comment, present] of frontends)
      for (const frontend of present) byKey.set(frontend.key, { frontend, service: comment.split(':')[0]! });
    return { frontends, byKey, sources: this.sourcesByFrontend() };
  }

  private byComment(): ReadonlyMap<string, readonly AdoptedFrontend[]> {
    const frontends = new Map<string, AdoptedFrontend[]>();
    for (const variant of VARIANTS) {
      const { frontends: dispatch, noEndpoints, noLocalEndpoints } = setsOf(variant);
      const ofKubeProxy = listedKubeProxyMaps(variant);
      for (const set of [dispatch, noEndpoints, noLocalEndpoints, ...ofKubeProxy]) {
        for (const element of this.sets.get(set.name)?.elements.values() ?? []) {
          const { key } = element;
          const comment = ofKubeProxy.includes(set) ? commentOfKubeProxys(element) : element.comment;
          if (comment === undefined) continue;
          const present = getOrMake(frontends, comment, () => []);
          if (!present.some((other) => other.key === key)) present.push({ variant, key });
        }
      }
    }
    return frontends;
  }

  private sourcesByFrontend(): ReadonlyMap<string, readonly AdoptedSource[]> {
    const sources = new Map<string, AdoptedSource[]>();
    SOURCES_SETS.forEach((set, prefixLength) => {
      for (const element of this.sets.get(set.name)?.elements.values() ?? []) {
        const frontend = element.key.slice(0, element.key.lastIndexOf(' . '));
        getOrMake(sources, frontend, () => []).push({ set, element, prefixLength });
      }
    });
    return sources;
  }
}

interface OwnedFrontend {
  readonly frontend: AdoptedFrontend;
  readonly service: ServiceKey;
}

interface AdoptedIndex {
  /** By the comment that names the service port. */
  readonly frontends: ReadonlyMap<string, readonly AdoptedFrontend[]>;
  readonly byKey: ReadonlyMap<string, OwnedFrontend>;
  /** By the frontend's key. */
  readonly sources: ReadonlyMap<string, readonly AdoptedSource[]>;
}

/** As ours would have it: kube-proxy names the service port in the chain that an element leads to, or in its comment. */
function commentOfKubeProxys({ value = '', comment }: SetElement): string | undefined {
  const key = servicePortInVerdict(value);
  return key === undefined ? comment : frontendComment(servicePortName(key));
}

/** The protocol of the frontend with that key. */
function protocolOf(key: string): Protocol {
  return key.split(' . ').at(-2)!.toUpperCase() as Protocol;
}

interface AdoptedSource {
  readonly set: SetDefinition;
  readonly element: SetElement;
  readonly prefixLength: number;
}

export interface AdoptedFrontend {
  readonly variant: FrontendVariant;
  /** `10.96.0.10 . udp . 53`, or without the address for a node port. */
  readonly key: string;
}

/** The frontend's own part, and those that it may share with other frontends. */
export function adoptedParts(
  elements: ElementLookup,
  frontend: AdoptedFrontend,
  sources?: readonly AdoptedSource[],
): readonly TablePart[] {
  return new PartReader(elements, frontend, sources).parts();
}

/** Collects the elements of one frontend, as compile.ts creates them. */
class PartReader {
  private readonly elements: PlacedElement[] = [];
  private readonly uses: Structure[] = [];
  private readonly tables = new Map<string, TablePart>();

  constructor(
    private readonly lookup: ElementLookup,
    private readonly frontend: AdoptedFrontend,
    private readonly sources: readonly AdoptedSource[] = [],
  ) {}

  parts(): readonly TablePart[] {
    const { variant, key } = this.frontend;
    const sets = setsOf(variant);
    this.take(sets.noEndpoints, key);
    this.take(sets.noLocalEndpoints, key);
    this.dispatched(sets.frontends, sets.endpoints, sets.affinityIds, sets.tables);
    this.dispatched(
      sets.shortCircuits,
      sets.shortCircuitEndpoints,
      sets.shortCircuitAffinityIds,
      sets.shortCircuitTables,
    );
    const ids = this.ids([sets.affinityIds, sets.shortCircuitAffinityIds]);
    this.identified(sets.affinityEndpoints, ids);
    if (this.take(RESTRICTED_FRONTENDS, key)) this.restricted();
    const ofKubeProxy = listedKubeProxyMaps(variant).filter((map) => this.take(map, key));
    const [port, , address] = key.split(' . ').reverse() as [string, string, string?];
    const protocol = protocolOf(key);
    const frontend = frontendName(address, Number(port), protocol);
    const { elements, uses } = this;
    const listed = elements.filter(({ set }) => !LOOKED_UP_SETS.has(set));
    const isKubeProxys = ofKubeProxy.length > 0;
    const own: TablePart = { key, frontend, elements, listed, uses, ids, isKubeProxys };
    const clusterIP = address === undefined ? [] : this.shared(CLUSTER_IPS, address);
    return [own, ...clusterIP, ...this.hairpins(protocol.toLowerCase()), ...this.tables.values()];
  }

  /** The element of that key, if the table has it. */
  private take(set: SetDefinition, key: string): SetElement | undefined {
    const element = this.lookup.element(set.name, key);
    if (element) this.elements.push({ set, ...element });
    return element;
  }

  /** The frontend's traffic class, and the numbered list that the class picks from, with its table. */
  private dispatched(
    map: SetDefinition,
    direct: SetDefinition,
    sticky: SetDefinition,
    tables: SetDefinition,
  ): void {
    const { variant, key } = this.frontend;
    const { value } = this.lookup.element(map.name, key) ?? {};
    const trafficClass = value === undefined ? undefined : classOfNumber(parsePriority(value), variant);
    if (!trafficClass) return;
    this.take(map, key);
    this.uses.push(...structuresOfClass(trafficClass));
    const list = trafficClass.affinitySeconds > 0 ? sticky : direct;
    const { count, slots } = trafficClass;
    for (let place = 0; place < count; place++)
      this.take(list, `${key} . ${formatPriority(FIRST_NUMBER + place)}`);
    const table = slots === undefined ? undefined : this.take(tables, key)?.value;
    const part = table && adoptedSlots(this.lookup, table, slots!);
    if (part) this.tables.set(part.key, part);
    const numbers = new Set(part ? part.elements.map(({ value }) => value!) : []);
    for (const number of numbers) this.take(list, `${key} . ${number}`);
  }

  private ids(lists: readonly SetDefinition[]): readonly string[] {
    return [...new Set(this.elements.flatMap(({ set, value }) => (lists.includes(set) ? [value!] : [])))];
  }

  /** The addresses of the endpoints with these ids. */
  private identified(map: SetDefinition, ids: readonly string[]): void {
    for (const id of ids) this.take(map, `${this.frontend.key} . ${id}`);
  }

  /** The sources that may pass. */
  private restricted(): void {
    for (const { set, element, prefixLength } of this.sources) {
      this.elements.push({ set, ...element });
      this.uses.push(sourcesStructure(prefixLength));
    }
  }

  /** Connections of the frontend's endpoints on this node to themselves. */
  private hairpins(protocol: string): readonly TablePart[] {
    const endpoints = new Set(
      this.elements.flatMap(({ set, value }) => (set.value?.[0] === 'address' ? [value!] : [])),
    );
    return [...endpoints].flatMap((endpoint) => {
      const [address, port] = endpoint.split(' . ');
      return this.shared(HAIRPIN_CONNECTIONS, `${address} . ${address} . ${protocol} . ${port}`);
    });
  }

  private shared(set: SetDefinition, key: string): readonly TablePart[] {
    const element = this.lookup.element(set.name, key);
    if (!element) return [];
    const elements = [{ set, ...element }];
    return [{ key: `${set.name} ${key}`, shared: set, elements, listed: [], uses: [] }];
  }
}
