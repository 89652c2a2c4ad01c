import type { ForwardingEntry } from '../forwarding/forwarding-entry.js';
import { endpointPlace, lackedBy, type Endpoint } from '../model/endpoint.js';
import { cidrContains, cidrText, type Cidr } from '../net/cidr.js';
import { asideOf } from '../select-endpoints.js';
import type { ClientFlow } from './flow.js';
import { frontendAddress, type FrontendAddress, NODE_PORT } from './frontend-map.js';

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
export function lostPlaces(before: Places, after: Places = new Set()): readonly string[] {
  if (before instanceof EndpointPlaces && after instanceof EndpointPlaces) return before.without(after);
  return [...before].filter((place) => !after.has(place));
}

export function servicePortFlows(entry: ForwardingEntry): ServicePortFlows {
  return {
    frontends: entry.frontends.map(frontendAddress),
    endpoints: new EndpointPlaces(eligibleEndpoints(entry)),
    policies: new FlowPolicies(entry),
  };
}

/** Of TCP and SCTP only connections that are being opened are judged: they leave an endpoint that steps aside, too. */
function eligibleEndpoints({ name, endpoints, flowEligibleEndpoints }: ForwardingEntry): readonly Endpoint[] {
  const aside = asideOf(endpoints);
  if (name.protocol === 'UDP' || aside.length === 0) return flowEligibleEndpoints;
  return flowEligibleEndpoints.filter((one) => !aside.includes(one) || endpoints.reachable.includes(one));
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
 * What a service port's traffic policies and source ranges say of flows to its endpoints.
 *
 * Source ranges, and the internal policy Local, can be told from a flow at any time. Whether the external policy is followed
 * is told by masquerading, which only the policy Cluster does for clients of other machines. As other programs
 * masquerade, too, that is asked only of flows that may be older than a change of the policy.
 */
class FlowPolicies {
  private localPlaces: ReadonlySet<string> | undefined;

  constructor(private readonly entry: ForwardingEntry) {}

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
        if (kind === 'cluster-ip') return policy === 'Cluster' || this.isLocal(flow.replySource);
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
