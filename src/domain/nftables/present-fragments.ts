import type { Protocol, ServicePortName } from '../model/service-port-name.js';
import { frontendComment, frontendText } from './compile.js';
import type { Fragment, Part, PlacedElement } from './fragment.js';
import { VARIANTS, type FrontendVariant } from './keys.js';
import { FIRST_NUMBER } from './node-rules.js';
import { formatPriority, parsePriority } from './priority.js';
import { CLUSTER_IPS, RESTRICTED_FRONTENDS, HAIRPIN_CONNECTIONS, setsOf, SOURCES_SETS } from './sets.js';
import { sourcesStructure, structuresOfClass, type Structure } from './structure.js';
import type { SetDefinition, SetElement } from './table.js';
import { classOfNumber } from './traffic-class.js';

/** The elements of a table's sets, by name and key. Sets of another layout than ours are empty. */
export type PresentSets = ReadonlyMap<string, { readonly elements: ReadonlyMap<string, SetElement> }>;

/**
 * What an earlier process left in the table, as fragments: the last good rules of service ports that cannot be programmed
 * now. A fragment that was compiled comes back with the same parts, its elements in any order.
 */
export class PresentFragments {
  private index: PresentIndex | undefined;

  constructor(private readonly sets: PresentSets) {}

  /** What the service port has, but for frontends that are `taken`. Undefined when that is nothing. */
  fragment(name: ServicePortName, taken: (part: string) => boolean): Fragment | undefined {
    return this.commented(frontendComment(name), taken);
  }

  /** The comments by which frontends name their service ports. */
  comments(): Iterable<string> {
    return this.indexed().frontends.keys();
  }

  /** The same as `fragment`, by the comment that names the service port. */
  commented(comment: string, taken: (part: string) => boolean): Fragment | undefined {
    const { frontends, sources } = this.indexed();
    const parts = (frontends.get(comment) ?? [])
      .filter(({ key }) => !taken(key))
      .flatMap((frontend) => new PartReader(this.sets, frontend, sources.get(frontend.key)).parts());
    const byKey = new Map(parts.map((part) => [part.key, part]));
    return byKey.size > 0 ? [...byKey.values()] : undefined;
  }

  private indexed(): PresentIndex {
    return (this.index ??= { frontends: this.byComment(), sources: this.sourcesByFrontend() });
  }

  private byComment(): ReadonlyMap<string, readonly PresentFrontend[]> {
    const frontends = new Map<string, PresentFrontend[]>();
    for (const variant of VARIANTS) {
      const { frontends: dispatch, noEndpoints, noLocalEndpoints } = setsOf(variant);
      for (const set of [dispatch, noEndpoints, noLocalEndpoints]) {
        for (const { key, comment } of this.sets.get(set.name)?.elements.values() ?? []) {
          if (comment === undefined) continue;
          const present = frontends.get(comment);
          if (!present) frontends.set(comment, [{ variant, key }]);
          else if (!present.some((other) => other.key === key)) present.push({ variant, key });
        }
      }
    }
    return frontends;
  }

  private sourcesByFrontend(): ReadonlyMap<string, readonly PresentSource[]> {
    const sources = new Map<string, PresentSource[]>();
    SOURCES_SETS.forEach((set, prefixLength) => {
      for (const element of this.sets.get(set.name)?.elements.values() ?? []) {
        const frontend = element.key.slice(0, element.key.lastIndexOf(' . '));
        const source = { set, element, prefixLength };
        const present = sources.get(frontend);
        if (present) present.push(source);
        else sources.set(frontend, [source]);
      }
    });
    return sources;
  }
}

interface PresentIndex {
  /** By the comment that names the service port. */
  readonly frontends: ReadonlyMap<string, readonly PresentFrontend[]>;
  /** By the frontend's key. */
  readonly sources: ReadonlyMap<string, readonly PresentSource[]>;
}

interface PresentSource {
  readonly set: SetDefinition;
  readonly element: SetElement;
  readonly prefixLength: number;
}

interface PresentFrontend {
  readonly variant: FrontendVariant;
  /** `10.96.0.10 . udp . 53`, or without the address for a node port. */
  readonly key: string;
}

/** Collects what the table has about one frontend, as compile.ts puts it there. */
class PartReader {
  private readonly elements: PlacedElement[] = [];
  private readonly uses: Structure[] = [];

  constructor(
    private readonly sets: PresentSets,
    private readonly frontend: PresentFrontend,
    private readonly sources: readonly PresentSource[] = [],
  ) {}

  /** The frontend's own part, and those that it may share with other frontends. */
  parts(): readonly Part[] {
    const { variant, key } = this.frontend;
    const sets = setsOf(variant);
    this.take(sets.noEndpoints, key);
    this.take(sets.noLocalEndpoints, key);
    this.dispatched(sets.frontends, [sets.endpoints, sets.affinityIds]);
    this.dispatched(sets.shortCircuits, [sets.shortCircuitEndpoints, sets.shortCircuitAffinityIds]);
    this.identified(sets.affinityEndpoints, [sets.affinityIds, sets.shortCircuitAffinityIds]);
    if (this.take(RESTRICTED_FRONTENDS, key)) this.restricted();
    const [port, protocol, address] = key.split(' . ').reverse() as [string, Lowercase<Protocol>, string?];
    const frontend = frontendText(address, Number(port), protocol.toUpperCase() as Protocol);
    const own: Part = { key, frontend, elements: this.elements, uses: this.uses };
    const clusterIP = address === undefined ? [] : this.shared(CLUSTER_IPS, address);
    return [own, ...clusterIP, ...this.hairpins(protocol)];
  }

  /** The element of that key, if the table has it. */
  private take(set: SetDefinition, key: string): SetElement | undefined {
    const element = this.sets.get(set.name)?.elements.get(key);
    if (element) this.elements.push({ set, ...element });
    return element;
  }

  /** Where the frontend finds its traffic class, and the numbered lists that the class draws from. */
  private dispatched(map: SetDefinition, lists: readonly SetDefinition[]): void {
    const { variant, key } = this.frontend;
    const { value } = this.sets.get(map.name)?.elements.get(key) ?? {};
    const trafficClass = value === undefined ? undefined : classOfNumber(parsePriority(value), variant);
    if (!trafficClass) return;
    this.take(map, key);
    this.uses.push(...structuresOfClass(trafficClass));
    for (const list of lists)
      for (let number = FIRST_NUMBER; this.take(list, `${key} . ${formatPriority(number)}`);) number++;
  }

  /** Where the endpoints of remembered ids are. */
  private identified(map: SetDefinition, lists: readonly SetDefinition[]): void {
    const ids = this.elements.filter(({ set }) => lists.includes(set)).map(({ value }) => value!);
    for (const id of new Set(ids)) this.take(map, `${this.frontend.key} . ${id}`);
  }

  /** Who may pass. */
  private restricted(): void {
    for (const { set, element, prefixLength } of this.sources) {
      this.elements.push({ set, ...element });
      this.uses.push(sourcesStructure(prefixLength));
    }
  }

  /** Connections of the frontend's endpoints on this node to themselves. */
  private hairpins(protocol: string): readonly Part[] {
    const endpoints = new Set(
      this.elements.flatMap(({ set, value }) => (set.value?.[0] === 'address' ? [value!] : [])),
    );
    return [...endpoints].flatMap((endpoint) => {
      const [address, port] = endpoint.split(' . ');
      return this.shared(HAIRPIN_CONNECTIONS, `${address} . ${address} . ${protocol} . ${port}`);
    });
  }

  private shared(set: SetDefinition, key: string): readonly Part[] {
    const element = this.sets.get(set.name)?.elements.get(key);
    return element ? [{ key: `${set.name} ${key}`, elements: [{ set, ...element }], uses: [] }] : [];
  }
}
