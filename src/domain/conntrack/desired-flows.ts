import type { ServicePortKey, Protocol } from '../model/service-port-name.js';
import { isTranslated, type ClientFlow, type Flow } from './flow.js';
import {
  FrontendOwners,
  frontendText,
  NODE_PORT,
  type FrontendAddress,
  placesOf,
  type FlowPlace,
  FrontendMap,
  frontendAddress,
} from './frontend-map.js';
import type { ForwardingEntry } from '../forwarding/forwarding-entry.js';
import { endpointPlace, lackedBy, type Endpoint } from '../model/endpoint.js';
import { cidrContains, cidrText, type Cidr } from '../net/cidr.js';
import { ejectedOf } from '../select-endpoints.js';

/** Why a flow must be removed. */
export type StaleReason =
  /** Its endpoint no longer serves, but others do. */
  | 'endpoint gone'
  /** No endpoint serves: the client must be rejected. */
  | 'no endpoint left'
  /** It began before the address belonged to a Service. */
  | 'never translated'
  /** The Service, its address or its node port is gone. */
  | 'frontend gone'
  /** Its traffic policy or source ranges no longer allow it. */
  | 'policy changed';

const NOTHING_PENDING = new FrontendOwners<ServicePortFlows>();

/**
 * The frontends whose flows may be stale since the last reconciliation, each with the endpoints that no longer serve it.
 */
export class SuspectFlows {
  readonly removed = new FrontendMap<Set<string> | 'all'>();
  /** Those whose external traffic policy is another one now. */
  readonly withNewPolicy = new FrontendMap<true>();
  private everything = false;

  get empty(): boolean {
    return !this.everything && this.removed.empty;
  }

  /** Suspects every flow. */
  addAll(): void {
    this.everything = true;
  }

  /**
   * Suspects the flows of a frontend.
   * @param endpoints `ip:port` of those that may no longer keep its flows; `all` when they are unknown
   */
  add(frontend: FrontendAddress, endpoints: Iterable<string> | 'all'): void {
    const removed = this.removed.get(frontend.port, frontend.address);
    if (endpoints === 'all') this.removed.set(frontend, 'all');
    else if (!removed) this.removed.set(frontend, new Set(endpoints));
    else if (removed !== 'all') for (const endpoint of endpoints) removed.add(endpoint);
  }

  /** Adds everything that others suspect. */
  merge(others: SuspectFlows): void {
    this.everything ||= others.everything;
    for (const [frontend, endpoints] of others.removed.entries()) this.add(frontend, endpoints);
    for (const [frontend] of others.withNewPolicy.entries()) this.withNewPolicy.set(frontend, true);
  }

  /** Where all suspect flows go, in as few places as there can be. */
  places(): readonly FlowPlace[] {
    return this.everything ? [{}] : placesOf(this.removed);
  }
}

const NOTHING_SUSPECT = new SuspectFlows();

/**
 * Which endpoints may have which flows of one family and protocol, according to the rules that are in the kernel or being written: for
 * each frontend of a service port of one protocol, all endpoints that serve or receive new flows, as far as policies and source ranges
 * allow. Topology and affinity do not count: a flow that is served stays where it is (docs/internals/spec/conntrack.md §2).
 */
export class DesiredFlows {
  private readonly ports = new Map<ServicePortKey, ServicePortFlows>();
  /** Two service ports may claim one frontend; then the endpoints of both are valid. */
  private readonly owners = new FrontendOwners<ServicePortFlows>();
  /** Rules that are being written. Their flows may already exist. */
  private pending = NOTHING_PENDING;

  /** @param unreplied only flows without a reply are judged: the rules see each of their packets as the first */
  constructor(private readonly unreplied = false) {}

  get size(): number {
    return this.ports.size;
  }

  /** From now on the rules may also lead to these. Replaces what was expected before. */
  expect(pending: readonly ServicePortFlows[]): void {
    this.pending = pending.length === 0 ? NOTHING_PENDING : new FrontendOwners();
    for (const port of pending) for (const frontend of port.frontends) this.pending.own(frontend, port);
  }

  /**
   * Sets a service port, undefined when it is gone, and suspects the flows that this may have made stale.
   * @param suspects missing where all flows are suspect
   */
  update(key: ServicePortKey, after: ServicePortFlows | undefined, suspects?: SuspectFlows): void {
    const before = this.ports.get(key);
    if (!before && !after) return;
    for (const frontend of before?.frontends ?? []) this.owners.disown(frontend, before!);
    for (const frontend of after?.frontends ?? []) this.owners.own(frontend, after!);
    if (after) this.ports.set(key, after);
    else this.ports.delete(key);
    if (!suspects) return;
    const kept = new Set(after?.frontends.map(frontendText));
    for (const frontend of before?.frontends ?? [])
      if (!kept.has(frontendText(frontend))) suspects.add(frontend, before!.endpoints);
    const had = new Set(before?.frontends.map(frontendText));
    const removed = before ? lostPlaces(before.endpoints, after?.endpoints) : [];
    const wasRejected = before?.endpoints.size === 0 && after !== undefined && after.endpoints.size > 0;
    const policies = before?.policies &&
      after?.policies && { before: before.policies, after: after.policies };
    const isOther = policies?.after.isOther(policies.before) === true;
    const hasNewPolicy = policies?.after.isOtherExternally(policies.before) === true;
    for (const frontend of after?.frontends ?? []) {
      const isNew = !had.has(frontendText(frontend));
      if (removed.length > 0 || wasRejected || isOther || isNew) suspects.add(frontend, removed);
      if (hasNewPolicy && !isNew) suspects.withNewPolicy.set(frontend, true);
    }
  }

  /** Node ports no longer accept traffic on these addresses; suspects the flows that used them. */
  nodePortAddressesRemoved(addresses: Iterable<string>, suspects: SuspectFlows): void {
    for (const address of addresses)
      for (const [frontend, owners] of this.owners.entries())
        if (frontend.address === NODE_PORT)
          for (const { endpoints } of owners) suspects.add({ address, port: frontend.port }, endpoints);
  }

  /** Frontends of an earlier process are gone; suspects the flows of those that no service port has now. */
  frontendsRemoved(frontends: Iterable<FrontendAddress>, suspects: SuspectFlows): void {
    for (const frontend of frontends)
      if (!this.owners.get(frontend.port, frontend.address)) suspects.add(frontend, 'all');
  }

  /**
   * Why a flow is stale; undefined when it may stay.
   * @param takesNodePorts whether node ports accept traffic on the address
   * @param suspects what frontends have lost since the last reconciliation
   * @param isOwn whether an address is one of this node
   */
  judge(
    flow: ClientFlow,
    takesNodePorts: (address: string) => boolean,
    suspects: Pick<SuspectFlows, 'removed' | 'withNewPolicy'> = NOTHING_SUSPECT,
    isOwn: (address: string) => boolean = () => false,
  ): StaleReason | undefined {
    const { removed } = suspects;
    const port = flow.destinationPort;
    if (!this.owners.hasPort(port) && !removed.hasPort(port)) return undefined;
    const { destination, replySource } = flow;
    const isAllowed = (owner: ServicePortFlows, address: string): boolean => {
      const isNew = suspects.withNewPolicy.get(port, address) === true;
      return owner.policies?.allow(flow, { address, port }, isNew, isOwn) ?? true;
    };
    for (const address of [destination, NODE_PORT]) {
      const pending = serving(this.pending.get(port, address), replySource);
      if (pending.some((owner) => isAllowed(owner, address))) return undefined;
    }
    const judgeOwned = (owners: readonly ServicePortFlows[], address: string): StaleReason | undefined => {
      const served = serving(owners, replySource);
      if (served.some((owner) => isAllowed(owner, address))) return undefined;
      return served.length > 0 ? 'policy changed' : this.judgeUnmatched(flow, owners);
    };
    const owners = this.owners.get(port, destination);
    if (owners) return judgeOwned(owners, destination);
    const nodePortOwners = this.owners.get(port, NODE_PORT);
    if (nodePortOwners && takesNodePorts(destination)) return judgeOwned(nodePortOwners, NODE_PORT);
    if (!isTranslated(flow)) return undefined;
    const here = removed.get(port, destination);
    if (here === 'all' || here?.has(replySource)) return 'frontend gone';
    const nodePort = removed.get(port, NODE_PORT);
    // If the endpoints are unknown, only the address shows that it was the node port.
    const usedNodePort =
      nodePort === 'all'
        ? takesNodePorts(destination)
        : nodePort?.has(replySource) && serving(nodePortOwners, replySource).length === 0;
    return usedNodePort ? 'frontend gone' : undefined;
  }

  private judgeUnmatched(flow: Flow, owners: readonly ServicePortFlows[]): StaleReason | undefined {
    const isServed = owners.some(({ endpoints }) => endpoints.size > 0);
    // Without a working endpoint, a flow without a reply does no harm.
    if (!isTranslated(flow)) return this.unreplied && !isServed ? undefined : 'never translated';
    return isServed ? 'endpoint gone' : 'no endpoint left';
  }
}

function serving(
  owners: readonly ServicePortFlows[] | undefined,
  endpoint: string,
): readonly ServicePortFlows[] {
  return owners?.filter(({ endpoints }) => endpoints.has(endpoint)) ?? [];
}

/** Which flows to examine: those of a protocol whose clients send to a place. */
export interface FlowQuery extends FlowPlace {
  readonly protocol: Protocol;
  /** Only those for which no packet has come back yet. */
  readonly unreplied: boolean;
}

/** The frontends and endpoints of a service port, for judging flows. */
export interface ServicePortFlows {
  readonly frontends: readonly FrontendAddress[];
  /** `ip:port` of the endpoints that may keep their flows. */
  readonly endpoints: Places;
  /** Missing: every client may use every endpoint, by every frontend. */
  readonly policies?: FlowPolicies;
}

/** Texts, each once. A set is one. */
type Places = Pick<ReadonlySet<string>, 'size' | 'has' | typeof Symbol.iterator>;

/** The places that were among these and are not among those. */
function lostPlaces(before: Places, after: Places = new Set()): readonly string[] {
  if (before instanceof EndpointPlaces && after instanceof EndpointPlaces) return before.without(after);
  return [...before].filter((place) => !after.has(place));
}

/** @param fallsBack whether the internal policy Local has no effect, as no endpoint is on this node */
export function servicePortFlows(entry: ForwardingEntry, fallsBack = false): ServicePortFlows {
  return {
    frontends: entry.frontends.map(frontendAddress),
    endpoints: new EndpointPlaces(eligibleEndpoints(entry)),
    policies: new FlowPolicies(entry, fallsBack),
  };
}

/** The same in IPVS mode, where a policy Local that finds no endpoint on this node falls back to all (docs/internals/spec/ipvs.md §4.5). */
export function flowsWithFallback(entry: ForwardingEntry): ServicePortFlows {
  const { local = [] } = entry.endpoints;
  const fallsBack = local.length === 0 && entry.frontends.some(({ kind }) => kind !== 'cluster-ip');
  return servicePortFlows(entry, fallsBack);
}

/** Of TCP and SCTP only connections that are being opened are judged: they leave an ejected endpoint, too. */
function eligibleEndpoints({ name, endpoints, flowEligibleEndpoints }: ForwardingEntry): readonly Endpoint[] {
  const ejected = ejectedOf(endpoints);
  if (name.protocol === 'UDP' || ejected.length === 0) return flowEligibleEndpoints;
  return flowEligibleEndpoints.filter((one) => !ejected.includes(one) || endpoints.reachable.includes(one));
}

/** Those of a sorted list. Most service ports never have a flow that is judged: the texts are made for those that have. */
class EndpointPlaces implements Places {
  private texts: ReadonlySet<string> | undefined;

  constructor(private readonly endpoints: readonly Endpoint[]) {}

  get size(): number {
    return this.endpoints.length;
  }

  has(place: string): boolean {
    return this.places.has(place);
  }

  [Symbol.iterator](): SetIterator<string> {
    return this.places.values();
  }

  without({ endpoints }: EndpointPlaces): readonly string[] {
    return lackedBy(endpoints, this.endpoints).map(endpointPlace);
  }

  private get places(): ReadonlySet<string> {
    return (this.texts ??= new Set(this.endpoints.map(endpointPlace)));
  }
}

/**
 * The restrictions of flows to endpoints by a service port's traffic policies and source ranges.
 *
 * Source ranges, and the internal policy Local, can be determined from a flow at any time. Whether the external policy is followed
 * is shown by masquerading, which only the policy Cluster does for clients of other machines. As other programs
 * masquerade, too, that is asked only of flows that may be older than a change of the policy.
 */
class FlowPolicies {
  private localPlaces: ReadonlySet<string> | undefined;

  /** @param fallsBack whether the internal policy Local has no effect, as no endpoint is on this node */
  constructor(
    private readonly entry: ForwardingEntry,
    private readonly fallsBack: boolean,
  ) {}

  /** Whether the external policy is another one. */
  isOtherExternally({ entry }: FlowPolicies): boolean {
    return entry.externalPolicyLocal !== this.entry.externalPolicyLocal;
  }

  /** Whether flows that the other ones allow may not be allowed by these. */
  isOther(other: FlowPolicies): boolean {
    const [before, after] = [other.entry, this.entry];
    return (
      this.isOtherExternally(other) ||
      before.internalPolicyLocal !== after.internalPolicyLocal ||
      !areSame(before.sourceRanges, after.sourceRanges) ||
      (after.sourceRanges.length > 0 && kindsText(before) !== kindsText(after))
    );
  }

  /**
   * Whether the rules would let a flow through this frontend reach its endpoint as it does.
   * @param wasChanged the external policy was another one when the flow may have begun
   * @param isOwn whether an address is one of this node
   */
  allow(
    flow: ClientFlow,
    { address, port }: FrontendAddress,
    wasChanged: boolean,
    isOwn: (address: string) => boolean,
  ): boolean {
    const { frontends } = this.entry;
    return frontends
      .filter((one) => one.port === port && (one.address ?? NODE_PORT) === address)
      .every(({ kind, policy }) => {
        if (kind === 'cluster-ip')
          return policy === 'Cluster' || this.fallsBack || this.isLocal(flow.replySource);
        if (kind === 'load-balancer-ip' && !this.isInRanges(flow.source)) return false;
        if (!wasChanged || isOwn(flow.source) || isHairpin(flow)) return true;
        return flow.isMasqueraded === (policy === 'Cluster');
      });
  }

  private isInRanges(source: string): boolean {
    const { sourceRanges, sourceRangesCoverNode, frontends } = this.entry;
    if (sourceRanges.length === 0 || sourceRanges.some((range) => cidrContains(range, source))) return true;
    return (
      sourceRangesCoverNode &&
      frontends.some(({ kind, address }) => kind === 'load-balancer-ip' && address === source)
    );
  }

  private isLocal(place: string): boolean {
    this.localPlaces ??= new Set(this.entry.localEndpoints.map(endpointPlace));
    return this.localPlaces.has(place);
  }
}

/** Ranges of the same version of a Service are the same objects: there may be thousands, and its endpoints may change often. */
function areSame(some: readonly Cidr[], others: readonly Cidr[]): boolean {
  const isSame = (range: Cidr, index: number): boolean => {
    const other = others[index]!;
    return range === other || cidrText(range) === cidrText(other);
  };
  return some.length === others.length && some.every(isSame);
}

/** The endpoint is the client itself, which is always masqueraded. */
function isHairpin({ source, replySource }: ClientFlow): boolean {
  return replySource.startsWith(source.includes(':') ? `[${source}]:` : `${source}:`);
}

function kindsText({ frontends }: ForwardingEntry): string {
  return String(frontends.map(({ kind, address }) => `${kind} ${address}`));
}
