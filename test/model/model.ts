import { canonical, familyOf, Networks } from './addresses.js';
import { endpointsOf, select } from './endpoints.js';
import type { Client, Cluster, Configuration, Destination, Node } from './objects.js';
import {
  DROPPED,
  outcomeOf,
  REJECTED,
  servesNodePorts,
  unservedOutcome,
  UNTOUCHED,
  type Circumstances,
  type Outcome,
  type Served,
} from './outcome.js';
import { servicePorts, type ServicePort } from './service-ports.js';

/** The answer of a health-check node port. */
export interface HealthCheck {
  readonly port: number;
  /** `namespace/name`. */
  readonly service: string;
  /** Ready pods of the Service on this node; it answers 200 if there are any, else 503. */
  readonly localEndpoints: number;
}

/**
 * What clients of Services see at one node, by the objects of the cluster, the node and its configuration alone, as docs/spec
 * describes it. It shares nothing with the program, so that a mistake of the program is not a mistake here, too.
 */
export class Model {
  private readonly ports: readonly ServicePort[];
  private readonly circumstances: Circumstances;

  constructor(
    private readonly cluster: Cluster,
    private readonly node: Node,
    private readonly configuration: Configuration,
  ) {
    this.ports = servicePorts(cluster);
    this.circumstances = { node, configuration };
  }

  /** All that a new connection may meet, more than one where several Services claim an address. */
  outcomes(client: Client, destination: Destination): readonly Outcome[] {
    const served = this.claims(destination);
    if (served.length > 0) return served.map((one) => outcomeOf(one, client, this.circumstances));
    const address = canonical(destination.address)!;
    const isClusterIP = this.ports.some(({ frontends }) =>
      frontends.some((one) => one.kind === 'cluster-ip' && one.address === address),
    );
    if (this.node.localAddresses.includes(address)) return this.atUnservedAddress(destination);
    const isInRange = new Networks(this.cluster.serviceCIDRs).has(address);
    return [unservedOutcome(isClusterIP, isInRange, this.configuration.mode)];
  }

  /** At an address of the node that serves no node ports: in iptables mode, rules that reject or drop do not look at the address. */
  private atUnservedAddress({ address, port, protocol }: Destination): readonly Outcome[] {
    if (this.configuration.mode !== 'iptables') return [UNTOUCHED];
    const [claim] = this.ports.filter(
      (one) =>
        one.family === familyOf(address) &&
        one.protocol === protocol &&
        one.frontends.some((frontend) => frontend.kind === 'node-port' && frontend.port === port),
    );
    if (!claim) return [UNTOUCHED];
    const { hasAny, local } = this.selection(claim);
    return [!hasAny ? REJECTED : claim.externalPolicyLocal && local.length === 0 ? DROPPED : UNTOUCHED];
  }

  /** Whether the node gets this address in IPVS mode (docs/spec/ipvs.md §4.3). */
  bindsAddress(address: string): boolean {
    const isOwn = this.node.localAddresses.includes(address);
    return !isOwn && this.ports.some(({ frontends }) => frontends.some((one) => one.address === address));
  }

  /** The service ports that have a frontend there; several if Services contradict each other. */
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
      });
  }

  private selection(port: ServicePort) {
    return select(port, endpointsOf(port, this.cluster.slices, this.node), this.node);
  }

  /** The ports at which load balancers query whether this node has endpoints (docs/spec/model.md §3.4). */
  healthChecks(): readonly HealthCheck[] {
    const found = new Map<number, HealthCheck>();
    for (const { healthCheckNodePort: port, service } of this.ports) {
      if (port === 0 || found.has(port)) continue;
      found.set(port, { port, service, localEndpoints: this.localReady(service) });
    }
    return [...found.values()];
  }

  /** Pods of which any port is ready here, by address, in the family that has more. */
  private localReady(service: string): number {
    const addresses = this.ports
      .filter((one) => one.service === service)
      .flatMap((port) => endpointsOf(port, this.cluster.slices, this.node))
      .filter(({ ready, local }) => ready && local)
      .map(({ address }) => address);
    const distinct = [...new Set(addresses)];
    const ipv6 = distinct.filter((address) => address.includes(':')).length;
    return Math.max(ipv6, distinct.length - ipv6);
  }

  /**
   * Whether a connection of before may go on: its endpoint still gets connections of that frontend, or may finish those that it has.
   */
  mayContinue(destination: Destination, endpoint: string): boolean {
    return this.claims(destination).some(({ port }) =>
      endpointsOf(port, this.cluster.slices, this.node).some(
        (one) => (one.ready || one.serving) && `${one.address} ${one.port}` === endpoint,
      ),
    );
  }
}
