import { canonical, familyOf, Networks, place, type Family } from './addresses.js';
import { endpointsOf, select, type Endpoint, type Selection } from './endpoints.js';
import { eventsOf, slicesOf, type EventReason } from './events.js';
import type { Client, Cluster, Configuration, Destination, Node } from './objects.js';
import {
  DROPPED,
  outcomeOf,
  REJECTED,
  relayedOutcome,
  servesNodePorts,
  unservedOutcome,
  UNTOUCHED,
  type Circumstances,
  type Outcome,
  type Served,
} from './outcome.js';
import { serviceName, servicePorts, type FrontendKind, type ServicePort } from './service-ports.js';

/** The answer of a health-check node port. */
export interface HealthCheck {
  readonly port: number;
  /** It answers at addresses of this family. */
  readonly family: Family;
  /** `namespace/name`. */
  readonly service: string;
  /** Ready pods of the Service on this node; it answers 200 if there are any, else 503. */
  readonly localEndpoints: number;
}

/**
 * What clients of Services see at one node, by the objects of the cluster, the node and its configuration alone, as docs/internals/spec
 * describes it. It shares nothing with the program, so that a mistake of the program is not a mistake here, too.
 */
export class Model {
  private readonly ports: readonly ServicePort[];
  private readonly endpoints = new Map<ServicePort, readonly Endpoint[]>();
  private readonly selections = new Map<ServicePort, Selection>();
  private readonly circumstances: Circumstances;

  constructor(
    private readonly cluster: Cluster,
    private readonly node: Node,
    private readonly configuration: Configuration,
  ) {
    this.ports = servicePorts(cluster);
    this.circumstances = { node, configuration };
  }

  /** What a new connection meets. */
  outcome(client: Client, destination: Destination): Outcome {
    const [served] = this.claims(destination);
    if (served && this.isSupported(served.port))
      return this.configuration.mode === 'userspace'
        ? relayedOutcome(served, this.endpointsOf(served.port), client, this.circumstances)
        : outcomeOf(served, client, this.circumstances);
    const address = canonical(destination.address)!;
    const isRejecting =
      this.configuration.mode === 'ipvs' ? this.bindsAddress(address) : this.isClusterIP(address);
    if (this.node.localAddresses.includes(address)) return this.atUnservedAddress(destination);
    const isInRange = new Networks(this.cluster.serviceCIDRs).has(address);
    return unservedOutcome(isRejecting, isInRange, this.configuration.mode);
  }

  /** Userspace mode does not forward SCTP. */
  private isSupported({ protocol }: ServicePort): boolean {
    return this.configuration.mode !== 'userspace' || protocol !== 'SCTP';
  }

  private isClusterIP(address: string): boolean {
    return this.ports.some(({ frontends }) =>
      frontends.some((one) => one.kind === 'cluster-ip' && one.address === address),
    );
  }

  /** At an address of the node that serves no node ports: in iptables mode, rules that reject or drop do not look at the address. */
  private atUnservedAddress({ address, port, protocol }: Destination): Outcome {
    if (this.configuration.mode !== 'iptables') return UNTOUCHED;
    const [claim] = this.ports.filter(
      (one) =>
        one.family === familyOf(address) &&
        one.protocol === protocol &&
        one.frontends.some((frontend) => frontend.kind === 'node-port' && frontend.port === port),
    );
    if (!claim) return UNTOUCHED;
    const { hasAny, local } = this.selection(claim);
    return !hasAny ? REJECTED : claim.externalPolicyLocal && local.length === 0 ? DROPPED : UNTOUCHED;
  }

  /** Whether the node gets this address in IPVS mode (docs/internals/spec/ipvs.md §4.3). */
  bindsAddress(address: string): boolean {
    const isOwn = this.node.localAddresses.includes(address);
    return !isOwn && this.ports.some(({ frontends }) => frontends.some((one) => one.address === address));
  }

  /** Services that lack an address and port because another one has it (docs/behavior/differences.md). */
  conflicts(): readonly string[] {
    const losers = this.ports.flatMap((port) => {
      const loses = port.frontends.some(({ address, port: number }) => {
        const places = address === undefined ? this.nodePortAddresses(port.family) : [address];
        return places.some((place) => {
          const [owner] = this.claims({ address: place, port: number, protocol: port.protocol });
          return owner !== undefined && owner.port.service !== port.service;
        });
      });
      return loses ? [port.service] : [];
    });
    return [...new Set(losers)].sort();
  }

  /** The reasons of the events that are recorded on each Service, by `namespace/name`. */
  events(): ReadonlyMap<string, ReadonlySet<EventReason>> {
    const { services, slices } = this.cluster;
    const found = new Map<string, Set<EventReason>>();
    for (const name of new Set(this.ports.map(({ service }) => service))) {
      const service = services.find((one) => serviceName(one.metadata) === name)!;
      found.set(name, new Set(eventsOf(service, slicesOf(service, slices), this.configuration.mode)));
    }
    for (const name of this.conflicts()) found.get(name)!.add('FrontendConflict');
    return found;
  }

  /** Some address at which node ports of the family are served. */
  private nodePortAddresses(family: Family): readonly string[] {
    const { localAddresses } = this.node;
    return localAddresses.filter(
      (one) => familyOf(one) === family && servesNodePorts(one, family, this.circumstances),
    );
  }

  /** The service ports that request a frontend there; the first one has it. */
  private claims(destination: Destination): readonly Served[] {
    const { port, protocol } = destination;
    const address = canonical(destination.address)!;
    const family = familyOf(address)!;
    const isNodePort = servesNodePorts(address, family, this.circumstances);
    return this.ports
      .filter((one) => one.family === family && one.protocol === protocol)
      .flatMap((servicePort) => {
        const frontend = servicePort.frontends.find(
          (one) => one.port === port && (one.address === undefined ? isNodePort : one.address === address),
        );
        return frontend ? [{ port: servicePort, frontend, selection: this.selection(servicePort) }] : [];
      })
      .sort(byPrecedence);
  }

  private endpointsOf(port: ServicePort): readonly Endpoint[] {
    return computed(this.endpoints, port, () => endpointsOf(port, this.cluster.slices, this.node));
  }

  private selection(port: ServicePort): Selection {
    return computed(this.selections, port, () => select(port, this.endpointsOf(port), this.node));
  }

  /** The ports at which load balancers query whether this node has endpoints, in each family (docs/internals/spec/model.md §3.4). */
  healthChecks(): readonly HealthCheck[] {
    const found = new Map<string, HealthCheck>();
    for (const { healthCheckNodePort: port, service, family } of this.ports) {
      const key = `${family} ${port}`;
      if (port === 0 || found.has(key)) continue;
      found.set(key, { port, family, service, localEndpoints: this.localReady(service, family) });
    }
    return [...found.values()];
  }

  /** Pods of which any port is ready here and supported by the mode, by address: others get no traffic of a load balancer. */
  private localReady(service: string, family: Family): number {
    const addresses = this.ports
      .filter((one) => one.service === service && one.family === family && this.isSupported(one))
      .flatMap((port) => this.endpointsOf(port))
      .filter(({ ready, local }) => ready && local)
      .map(({ address }) => address);
    return new Set(addresses).size;
  }

  /**
   * Whether a connection of before may go on: its endpoint still gets connections of that frontend, or may finish those that it has.
   * @param endpoint `10.0.0.1:80`, `[fd00::1]:80`
   */
  mayContinue(destination: Destination, endpoint: string): boolean {
    const [served] = this.claims(destination);
    return (
      served !== undefined &&
      this.endpointsOf(served.port).some((one) => (one.ready || one.serving) && place(one) === endpoint)
    );
  }
}

const KINDS: readonly FrontendKind[] = ['cluster-ip', 'load-balancer-ip', 'external-ip', 'node-port'];

/**
 * Which of several that request one address and port has it. Any user may request any external IP, so the kind of the address comes first;
 * then endpoints, then age.
 */
export function byPrecedence(one: Served, other: Served): number {
  return (
    KINDS.indexOf(one.frontend.kind) - KINDS.indexOf(other.frontend.kind) ||
    Number(other.selection.hasAny) - Number(one.selection.hasAny) ||
    (one.port.createdAt === other.port.createdAt ? 0 : one.port.createdAt - other.port.createdAt) ||
    (one.port.service < other.port.service ? -1 : 1)
  );
}

function computed<Key, Value>(known: Map<Key, Value>, key: Key, compute: () => Value): Value {
  let value = known.get(key);
  if (value === undefined) known.set(key, (value = compute()));
  return value;
}
