import {
  requestedFrontends,
  type ForwardingEntry,
  type Frontend,
} from '../../../domain/forwarding/forwarding-entry.js';
import { type NodeNetwork, rejectedProtocols } from '../../../domain/forwarding/node-network.js';
import { type ServiceKey, isServiceKey, type Protocol } from '../../../domain/model/service-port-name.js';
import { isLoopback, LOCALHOST, hostPort, parseAddress } from '../../../domain/net/address.js';
import { cidrContains, parseCidr } from '../../../domain/net/cidr.js';
import { familyOf, type IpFamily } from '../../../domain/net/ip-family.js';
import type { ClusterState } from '../../../domain/state/cluster-state.js';
import type { ListedLoop } from '../status/list-services.js';
import type { AddressExplanation, EndpointMatch, FrontendMatch } from './explanation.js';
import type { ExplainPort } from './explain-port.js';
import type { Packet } from '../../domain/trace/trace.js';
import { acceptedSourcesText } from '../words.js';

type SearchedLoop = Pick<ListedLoop, 'family' | 'table'>;

/** Whether a frontend of a service port is requested. */
type Matcher = (entry: ForwardingEntry, frontend: Pick<Frontend, 'address' | 'port'>) => boolean;

/** What addresses mean on this node. */
export interface ExplainedNode {
  /** Such as `nftables`. */
  readonly mode: string;
  /** Whether all Services and EndpointSlices have been listed. */
  isListed(): boolean;
  network(family: IpFamily): NodeNetwork;
  /** The addresses of this machine. */
  localAddresses(): readonly string[];
}

/** Modes whose rules reject unused ports of cluster IPs. */
const REJECTING: ReadonlySet<string> = new Set(['nftables', 'ipvs']);

/** The handling of packets without a rule. */
const UNTOUCHED = 'no rule of this proxy is for it, and packets to it are routed as any others';

/** Use case ExplainAddress: whose an address or a port is. `address` searches everything, so only for people who ask. */
export class ExplainAddress {
  constructor(
    private readonly explain: ExplainPort,
    private readonly state: ClusterState,
    private readonly loops: readonly SearchedLoop[],
    private readonly node: ExplainedNode,
  ) {}

  address(subject: AddressSubject): AddressExplanation {
    const loops = this.loops.filter(
      ({ family }) => subject.address === undefined || familyOf(subject.address) === family,
    );
    const frontends = loops.flatMap((loop) => this.frontends(loop, subject));
    const services = this.servicesOfEndpoint(subject);
    const endpoints = loops.flatMap((loop) =>
      [...services].flatMap((service) => this.endpoints(loop, service, subject)),
    );
    const found = frontends.length + endpoints.length > 0;
    return {
      subject: subjectText(subject),
      frontends,
      endpoints,
      ...(!found && { otherwise: this.otherwise(subject, loops, services) }),
    };
  }

  /** Which endpoints of a service port are ejected, and why, for people; none if the subject is no frontend that it holds. */
  ejectedOf(entry: ForwardingEntry, subject: AddressSubject): readonly string[] {
    const { address } = subject;
    if (address !== undefined && familyOf(address) !== entry.family) return [];
    const matches = this.matcher(entry.family, subject);
    if (!entry.frontends.some((frontend) => matches(entry, frontend))) return [];
    const { frontends } = this.explain.port(entry);
    const owns = frontends.some((frontend) => matches(entry, frontend) && frontend.outcome !== 'conflict');
    return owns ? this.explain.ejectedTexts(entry) : [];
  }

  private matcher(family: IpFamily, subject: AddressSubject): Matcher {
    const isOfNode = this.acceptsNodePorts(family, subject.address);
    const isRelayed = this.isRelayed(family, subject.address);
    return ({ name }, { address, port }) =>
      (subject.protocol === undefined || subject.protocol === name.protocol) &&
      (subject.port === undefined ? address !== undefined : port === subject.port) &&
      (address === undefined
        ? isOfNode || (isRelayed && name.protocol === 'TCP')
        : address === subject.address);
  }

  private frontends(loop: SearchedLoop, subject: AddressSubject): readonly FrontendMatch[] {
    const matches = this.matcher(loop.family, subject);
    const found: FrontendMatch[] = [];
    for (const entry of loop.table.entries()) {
      if (!requestedFrontends(entry).some((frontend) => matches(entry, frontend))) continue;
      const { frontends, status, sourceRanges } = this.explain.port(entry);
      for (const frontend of frontends)
        if (matches(entry, frontend)) {
          const isRestricted = frontend.kind === 'load-balancer-ip' && sourceRanges.length > 0;
          found.push({ ...identity(entry), ...frontend, status, ...(isRestricted && { sourceRanges }) });
        }
    }
    return found;
  }

  /** Whether node ports are requested: those of any address, or of one that accepts them. */
  private acceptsNodePorts(family: IpFamily, address: string | undefined): boolean {
    if (address === undefined) return true;
    const { nodePortIPs, localhostNodePorts = false } = this.node.network(family);
    if (nodePortIPs !== 'all') return nodePortIPs.includes(address);
    return (
      this.node.localAddresses().includes(address) &&
      (localhostNodePorts || !isLoopback({ family, text: address }))
    );
  }

  /** Whether the proxy itself listens for TCP node ports there. */
  private isRelayed(family: IpFamily, address: string | undefined): boolean {
    return address === LOCALHOST[family] && this.node.network(family).loopbackNodePorts === 'relayed';
  }

  private servicesOfEndpoint({ address, port }: AddressSubject): ReadonlySet<ServiceKey> {
    const services = new Set<ServiceKey>();
    if (address === undefined) return services;
    for (const slice of this.state.allSlices()) {
      const has = slice.ports.some(({ endpoints }) =>
        endpoints.some((one) => one.address === address && (port === undefined || one.port === port)),
      );
      if (has) services.add(`${slice.namespace}/${slice.service}`);
    }
    return services;
  }

  private endpoints(
    loop: SearchedLoop,
    service: ServiceKey,
    { address, port, protocol }: AddressSubject,
  ): readonly EndpointMatch[] {
    return loop.table
      .entriesOf(service)
      .filter(({ name }) => protocol === undefined || protocol === name.protocol)
      .flatMap((entry) =>
        this.explain
          .port(entry)
          .endpoints.filter((one) => one.address === address && (port === undefined || one.port === port))
          .map((endpoint) => ({ ...identity(entry), ...endpoint })),
      );
  }

  private otherwise(
    subject: AddressSubject,
    loops: readonly SearchedLoop[],
    services: ReadonlySet<ServiceKey>,
  ): string {
    const { address, port } = subject;
    if (!this.node.isListed()) return 'not all objects have been listed yet: try again in a moment';
    if (address === undefined) return this.unusedNodePort(port!, loops);
    const onLoopback = this.rejectedNodePort(address, subject, loops);
    if (onLoopback !== undefined) return onLoopback;
    if (services.size > 0)
      return `EndpointSlices of ${[...services].sort().join(', ')} list it, but no served port of that Service leads to it`;
    const owned = this.ownerOf(address, loops);
    if (owned.length > 0) return this.unusedPort(address, owned);
    const ranges = this.node.network(familyOf(address)).serviceCIDRs;
    const range = ranges.find((text) => cidrContains(parseCidr(text)!, address));
    if (range === undefined) return `no Service and no EndpointSlice has this address; ${UNTOUCHED}`;
    const outcome = this.node.mode === 'nftables' ? 'packets to it are dropped' : UNTOUCHED;
    return `it is in the service range ${range}, but no Service has it; ${outcome}`;
  }

  /** That a node port is rejected on a loopback address; undefined if it is not. */
  private rejectedNodePort(
    address: string,
    { port, protocol }: AddressSubject,
    loops: readonly SearchedLoop[],
  ): string | undefined {
    const family = familyOf(address);
    if (!isLoopback({ family, text: address })) return undefined;
    const rejected = rejectedProtocols(this.node.network(family));
    const isAsked = ({ name, frontends }: ForwardingEntry): boolean =>
      (protocol === undefined || protocol === name.protocol) &&
      rejected.includes(name.protocol) &&
      frontends.some((frontend) => frontend.kind === 'node-port' && frontend.port === port);
    for (const { table } of loops)
      for (const entry of table.entries()) {
        if (!isAsked(entry)) continue;
        const { namespace, name, protocol: its } = entry.name;
        return `it is the node port ${port}/${its} of ${namespace}/${name}; node ports are rejected on loopback addresses`;
      }
    return undefined;
  }

  private unusedNodePort(port: number, loops: readonly SearchedLoop[]): string {
    for (const { table } of loops)
      for (const { name, healthCheckNodePort } of table.entries())
        if (healthCheckNodePort === port)
          return `it is the health-check node port of ${name.namespace}/${name.name}, at which the proxy itself answers load balancers`;
    return `no Service has this node port; ${UNTOUCHED}`;
  }

  private unusedPort(address: string, owned: readonly ForwardingEntry[]): string {
    const [first] = owned;
    const frontends = owned.flatMap((entry) =>
      entry.frontends
        .filter((frontend) => frontend.address === address)
        .map(({ kind, port }) => ({ kind, text: `${port}/${entry.name.protocol}` })),
    );
    const { kind } = frontends[0]!;
    const isRejected = kind === 'cluster-ip' && REJECTING.has(this.node.mode);
    return `it is a ${kind} of ${first!.name.namespace}/${first!.name.name}, which has only the ports ${frontends.map(({ text }) => text).join(', ')} there; ${isRejected ? 'packets to others are rejected' : UNTOUCHED}`;
  }

  /** The entries of the Service that has this address. */
  private ownerOf(address: string, loops: readonly SearchedLoop[]): readonly ForwardingEntry[] {
    const isAt = ({ frontends }: ForwardingEntry): boolean =>
      frontends.some((frontend) => frontend.address === address);
    const at = loops.flatMap(({ table }) => [...table.entries()].filter(isAt));
    return at.filter(
      ({ name }) => name.namespace === at[0]!.name.namespace && name.name === at[0]!.name.name,
    );
  }
}

function identity({ name, family }: ForwardingEntry) {
  const { namespace, name: service, port, protocol } = name;
  return { service: `${namespace}/${service}`, portName: port, protocol, family };
}

/** What an explanation is asked about. */
export type Subject = { readonly kind: 'service'; readonly service: ServiceKey } | AddressSubject;

/** An address, a port of it, or, without an address, a port of this node. */
export interface AddressSubject {
  readonly kind: 'address';
  /** Canonical. */
  readonly address?: string;
  readonly port?: number;
  /** Undefined for any. */
  readonly protocol?: Protocol;
}

const WITH_PROTOCOL = /^([^/]+)(?:\/(tcp|udp|sctp))?$/i;
const WITH_PORT = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/;
const PORT = /^\d{1,5}$/;

/**
 * Reads `NAMESPACE/NAME`, `ADDRESS`, `ADDRESS:PORT`, with an IPv6 address in brackets, or `PORT`, the last two with
 * `/PROTOCOL` if wanted. Undefined if it is none of these.
 */
export function parseSubject(text: string): Subject | undefined {
  const [, place, spoken] = WITH_PROTOCOL.exec(text) ?? [];
  // A namespace may consist of digits, but a Service named tcp in it would be quite a coincidence.
  const subject = place === undefined ? undefined : parsePlace(place);
  if (subject && (spoken === undefined || subject.port !== undefined))
    return { ...subject, ...(spoken !== undefined && { protocol: spoken.toUpperCase() as Protocol }) };
  return isServiceKey(text) ? { kind: 'service', service: text } : undefined;
}

function parsePlace(text: string): AddressSubject | undefined {
  const address = parseAddress(text)?.text;
  if (address !== undefined) return { kind: 'address', address };
  const [, bracketed, plain, number = text] = WITH_PORT.exec(text) ?? [];
  const port = PORT.test(number) ? Number(number) : 0;
  if (port < 1 || port > 65535) return undefined;
  const host = bracketed ?? plain;
  if (host === undefined) return { kind: 'address', port };
  const parsed = parseAddress(host);
  return parsed && { kind: 'address', address: parsed.text, port };
}

/** In canonical form. */
export function subjectText({ address, port, protocol }: AddressSubject): string {
  const place = address === undefined ? String(port) : port === undefined ? address : hostPort(address, port);
  return protocol === undefined ? place : `${place}/${protocol}`;
}

/**
 * Why the proxy has packets to this destination rejected or dropped, in the words of an explanation of that address; undefined if
 * it has them forwarded. Searches everything, so only for people who ask.
 */
export function rejectionOf(addresses: ExplainAddress, packet: Packet): string | undefined {
  const { frontends, otherwise } = addresses.address(subjectOf(packet));
  const [held] = frontends
    .filter(({ outcome }) => outcome !== 'conflict')
    .sort((one, other) => (one.service < other.service ? -1 : 1));
  if (!held) return otherwise;
  const { outcome, reason, sourceRanges = [] } = held;
  if (outcome !== 'forward') return reason;
  return sourceRanges.length > 0 ? acceptedSourcesText(sourceRanges) : undefined;
}

/**
 * Which endpoints behind this destination get no new connections because they are silent, in the words of an explanation.
 * @param ports service ports that have such endpoints; no others are looked at
 */
export function ejectedAt(
  addresses: ExplainAddress,
  packet: Packet,
  ports: Iterable<ForwardingEntry>,
): readonly string[] {
  return [...ports].flatMap((port) => addresses.ejectedOf(port, subjectOf(packet)));
}

function subjectOf({ destination: address, destinationPort: port, protocol }: Packet): AddressSubject {
  return { kind: 'address', address, port, protocol };
}
