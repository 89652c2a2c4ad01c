import {
  isExternal,
  shortCircuits,
  type ForwardingEntry,
  type Frontend,
} from '../forwarding/forwarding-entry.js';
import type { Endpoint } from '../model/endpoint.js';
import { displayName, type Protocol, type ServicePortName } from '../model/service-port-name.js';
import { hostPort } from '../net/address.js';
import { addressBits } from '../net/cidr.js';
import { endpointIds } from './endpoint-ids.js';
import { fingerprintOf } from './fingerprint.js';
import type { NftablesServicePortRules, TablePart, PlacedElement } from './state/service-port-rules.js';
import { BY_ADDRESS, BY_NODE_PORT, type FrontendVariant } from './layout/keys.js';
import { FIRST_NUMBER } from './layout/node-rules.js';
import { formatPriority } from './layout/priority.js';
import { CLUSTER_IPS, RESTRICTED_FRONTENDS, HAIRPIN_CONNECTIONS, setsOf, sourcesSet } from './layout/sets.js';
import { sourcesStructure, structuresOfClass, type Structure } from './layout/structure.js';
import type { SetDefinition, SetElement } from './layout/table.js';
import { classNumber, MAX_AFFINITY_ENDPOINTS, type TrafficClass } from './layout/traffic-class.js';

/** nft refuses comments longer than 128 characters, and with them the whole transaction. */
const MAX_COMMENT = 128;

/** Compiles one service port into its rules in the table of its family. */
export function compileNftables(entry: ForwardingEntry): NftablesServicePortRules {
  const ids = entry.affinitySeconds > 0 ? endpointIds(entry) : undefined;
  const sharedParts = compileShared(entry);
  const sharedKeys = sharedParts.map(({ key }) => key);
  const own = entry.frontends.map((frontend) => compileFrontend(entry, frontend, ids, sharedKeys));
  return eachOnce([...own, ...sharedParts]);
}

/** What the service port may share with others. */
function compileShared({ name, frontends, endpoints }: ForwardingEntry): readonly TablePart[] {
  const parts: TablePart[] = [];
  for (const { address, kind } of frontends) {
    if (kind === 'cluster-ip') parts.push(shared(CLUSTER_IPS, { key: address! }));
  }
  const protocol = name.protocol.toLowerCase();
  for (const { isLocal, address, port } of endpoints.reachable) {
    if (isLocal)
      parts.push(shared(HAIRPIN_CONNECTIONS, { key: `${address} . ${address} . ${protocol} . ${port}` }));
  }
  return parts;
}

/** One address may be both an external IP and a load-balancer IP: the latter wins, since it may restrict sources. */
function eachOnce(parts: readonly TablePart[]): NftablesServicePortRules {
  const byKey = new Map(parts.map((part) => [part.key, part]));
  return byKey.size === parts.length ? parts : [...byKey.values()];
}

/** The comment of a frontend's elements, which names its service port. */
export function frontendComment(name: ServicePortName): string {
  return displayName(name).slice(0, MAX_COMMENT);
}

/** A frontend in the form that people use: `10.96.0.10:53/UDP`, `node port 30053/UDP`. */
export function frontendText(address: string | undefined, port: number, protocol: Protocol): string {
  return `${address === undefined ? `node port ${port}` : hostPort(address, port)}/${protocol}`;
}

type Ids = ReadonlyMap<string, number>;

function compileFrontend(
  entry: ForwardingEntry,
  frontend: Frontend,
  ids: Ids | undefined,
  sharedKeys: readonly string[],
): TablePart {
  const part = new FrontendBuilder(entry, frontend, ids);
  const { cluster = [], local = [] } = entry.endpoints;
  const list = frontend.policy === 'Local' ? local : cluster;
  const sets = setsOf(part.variant);
  if (frontend.outcome === 'reject') part.place(sets.noEndpoints, part.frontendKey, undefined, part.comment);
  if (frontend.outcome === 'drop')
    part.place(sets.noLocalEndpoints, part.frontendKey, undefined, part.comment);
  if (shortCircuits(entry, frontend)) {
    part.dispatch(sets.frontends, 'external-local', list.length);
    part.list(list, sets.endpoints, sets.affinityIds);
    part.dispatch(sets.shortCircuits, 'short-circuit', cluster.length);
    part.list(cluster, sets.shortCircuitEndpoints, sets.shortCircuitAffinityIds);
    part.identify([...new Map([...cluster, ...list].map((endpoint) => [endpoint.text, endpoint])).values()]);
  } else if (frontend.outcome === 'forward') {
    part.dispatch(sets.frontends, isExternal(frontend) ? 'external' : 'pick', list.length);
    part.list(list, sets.endpoints, sets.affinityIds);
    part.identify(list);
  }
  if (frontend.kind === 'load-balancer-ip') part.restrictSources();
  return part.build(sharedKeys);
}

/** Collects what one frontend puts into the table. */
class FrontendBuilder {
  readonly variant: FrontendVariant;
  readonly frontendKey: string;
  readonly comment: string;
  private readonly elements: PlacedElement[] = [];
  private readonly uses: Structure[] = [];

  constructor(
    private readonly entry: ForwardingEntry,
    private readonly frontend: Frontend,
    private readonly ids: Ids | undefined,
  ) {
    const { address, port } = frontend;
    const protocolPort = `${entry.name.protocol.toLowerCase()} . ${port}`;
    this.variant = address === undefined ? BY_NODE_PORT : BY_ADDRESS;
    this.frontendKey = address === undefined ? protocolPort : `${address} . ${protocolPort}`;
    this.comment = frontendComment(entry.name);
  }

  /** @param sharedKeys what is shared is not looked for either when the fingerprint is found */
  build(sharedKeys: readonly string[]): TablePart {
    const { address, port } = this.frontend;
    const fingerprint = fingerprintOf(this.elements, sharedKeys);
    return {
      key: this.frontendKey,
      frontend: frontendText(address, port, this.entry.name.protocol),
      elements: this.elements.map((element) =>
        element.comment === undefined ? element : { ...element, fingerprint },
      ),
      uses: this.uses,
    };
  }

  place(set: SetDefinition, key: string, value?: string, comment?: string): void {
    this.elements.push({ set, key, value, comment });
  }

  /** Leads the frontend to the chain of its class. */
  dispatch(map: SetDefinition, kind: TrafficClass['kind'], endpoints: number): void {
    const { affinitySeconds } = this.entry;
    const count = this.ids ? Math.min(endpoints, MAX_AFFINITY_ENDPOINTS) : endpoints;
    const trafficClass: TrafficClass = { variant: this.variant, kind, count, affinitySeconds };
    const comment = kind === 'short-circuit' ? undefined : this.comment;
    this.place(map, this.frontendKey, formatPriority(classNumber(trafficClass)), comment);
    this.uses.push(...structuresOfClass(trafficClass));
  }

  /** Numbers the endpoints of a list: each number leads to an id with affinity, otherwise to an address. */
  list(endpoints: readonly Endpoint[], direct: SetDefinition, sticky: SetDefinition): void {
    const ids = this.ids;
    if (ids) {
      limited(endpoints).forEach(({ text }, number) => {
        this.place(sticky, this.numbered(number), formatPriority(ids.get(text)!));
      });
    } else {
      endpoints.forEach(({ address, port }, number) => {
        this.place(direct, this.numbered(number), `${address} . ${port}`);
      });
    }
  }

  /** With affinity: the address of the endpoint with each id. */
  identify(endpoints: readonly Endpoint[]): void {
    const ids = this.ids;
    if (!ids) return;
    for (const { text, address, port } of endpoints) {
      const key = `${this.frontendKey} . ${formatPriority(ids.get(text)!)}`;
      this.place(setsOf(this.variant).affinityEndpoints, key, `${address} . ${port}`);
    }
  }

  /** A virtual address may itself be the source of the node's own packets, so ranges that cover the node admit it. */
  restrictSources(): void {
    const { sourceRanges, sourceRangesCoverNode, frontends, family } = this.entry;
    if (sourceRanges.length === 0) return;
    this.place(RESTRICTED_FRONTENDS, this.frontendKey, undefined, this.comment);
    const virtual = frontends
      .filter(({ kind }) => kind === 'load-balancer-ip')
      .map(({ address }) => address!);
    const own = sourceRangesCoverNode
      ? virtual.map((address) => ({ address, prefixLength: addressBits(family) }))
      : [];
    const sources = new Map(
      [...sourceRanges, ...own].map((range) => [`${range.address}/${range.prefixLength}`, range]),
    );
    for (const { address, prefixLength } of sources.values()) {
      this.place(sourcesSet(prefixLength), `${this.frontendKey} . ${address}`);
      this.uses.push(sourcesStructure(prefixLength));
    }
  }

  private numbered(number: number): string {
    return `${this.frontendKey} . ${numberText(number)}`;
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

function shared(set: SetDefinition, element: SetElement): TablePart {
  return { key: `${set.name} ${element.key}`, elements: [{ set, ...element }], uses: [] };
}
