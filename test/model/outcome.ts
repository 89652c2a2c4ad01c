import { Networks, type Family } from './addresses.js';
import { readyElseDraining, type Endpoint, type Selection } from './endpoints.js';
import type { Client, Configuration, Mode, Node } from './objects.js';
import { type Frontend, type ServicePort } from './service-ports.js';

/** An endpoint that a new connection may get. */
export interface Draw {
  readonly address: string;
  readonly port: number;
  /** How likely it is, without session affinity. */
  readonly share: number;
  /** The endpoint sees an address of the node instead of the client's. */
  readonly masqueraded: boolean;
}

/** What a client sees when it opens a connection. */
export type Outcome =
  /** Without any, in userspace mode, it is accepted and closed without data, and datagrams are dropped. */
  | {
      readonly kind: 'endpoints';
      readonly draws: readonly Draw[];
      readonly affinitySeconds: number;
      /** A client always gets the same endpoint, and nothing is remembered. */
      readonly hashesSource: boolean;
    }
  /** An ICMP error, or a reset. */
  | { readonly kind: 'rejected' }
  /** Silence. */
  | { readonly kind: 'dropped' }
  /** As without a proxy: the connection goes to the node itself, or where its routes lead. */
  | { readonly kind: 'untouched' };

export const REJECTED: Outcome = { kind: 'rejected' };
export const DROPPED: Outcome = { kind: 'dropped' };
export const UNTOUCHED: Outcome = { kind: 'untouched' };

/** A service port with its endpoints, and the frontend to which a client connects. */
export interface Served {
  readonly port: ServicePort;
  readonly frontend: Frontend;
  readonly selection: Selection;
}

/** What the node and the configuration contribute. */
export interface Circumstances {
  readonly node: Node;
  readonly configuration: Configuration;
}

/** The table of docs/internals/spec/model.md §5, except for userspace mode. */
export function outcomeOf(served: Served, client: Client, circumstances: Circumstances): Outcome {
  return circumstances.configuration.mode === 'ipvs'
    ? balanced(served, client, circumstances)
    : filtered(served, client, circumstances);
}

function filtered(served: Served, client: Client, circumstances: Circumstances): Outcome {
  const { port, frontend, selection } = served;
  const { cluster, local, hasAny } = selection;
  const { mode } = circumstances.configuration;
  // In iptables mode, rules that reject are not in the way of packets that leave the node itself.
  const leaves = client.kind === 'node' && frontend.address !== undefined && frontend.kind !== 'cluster-ip';
  const unserved = mode === 'iptables' && leaves ? UNTOUCHED : REJECTED;
  // nftables mode looks at the source first, iptables mode at whether there is an endpoint.
  if (!isAdmitted(served, client, circumstances)) return hasAny || mode === 'nftables' ? DROPPED : unserved;
  if (!hasAny) return unserved;
  const isPod = isLocalPod(port.family, client, circumstances) === true;
  const hashesSource = port.hashesSource && mode === 'nftables';
  const to = (endpoints: readonly Endpoint[], masquerade: boolean): Outcome =>
    endpoints.length === 0 ? DROPPED : drawn(port, endpoints, client, masquerade, hashesSource);
  if (frontend.kind === 'cluster-ip')
    return to(port.internalPolicyLocal ? local : cluster, masqueradesInternal(port, client, circumstances));
  if (!port.externalPolicyLocal) return to(cluster, true);
  if (isPod) return to(cluster, false);
  return client.kind === 'node' ? to(cluster, true) : to(local, false);
}

/** A virtual server has the local endpoints if its policy asks for them and there are any, else all (docs/internals/spec/ipvs.md §4.5). */
function balanced(served: Served, client: Client, circumstances: Circumstances): Outcome {
  const { port, frontend, selection } = served;
  const isInternal = frontend.kind === 'cluster-ip';
  const wantsLocal = isInternal ? port.internalPolicyLocal : port.externalPolicyLocal;
  const all = port.internalPolicyLocal && !port.isExternallyAccessible ? [] : selection.cluster;
  const endpoints = wantsLocal && selection.local.length > 0 ? selection.local : all;
  // Packets of the node itself come to IPVS, which rejects them, before they come to the filter.
  if (endpoints.length === 0 && client.kind === 'node') return REJECTED;
  if (!isAdmitted(served, client, circumstances)) return DROPPED;
  if (endpoints.length === 0) return REJECTED;
  const masquerade = isInternal
    ? masqueradesInternal(port, client, circumstances)
    : !port.externalPolicyLocal;
  return drawn(port, endpoints, client, masquerade, port.hashesSource);
}

/**
 * In userspace mode the proxy opens a connection of its own, for everybody to any endpoint (docs/internals/userspace.md).
 * @param endpoints all of the service port
 */
export function relayedOutcome(
  { port, frontend }: Served,
  endpoints: readonly Endpoint[],
  client: Client,
  { node }: Circumstances,
): Outcome {
  const isOwn = node.localAddresses.includes(frontend.address ?? '');
  if (client.kind === 'node' && frontend.kind === 'external-ip' && !isOwn) return UNTOUCHED;
  // Weights other than 0 have no effect.
  const weighted = readyElseDraining(endpoints).map((one) => ({ ...one, weight: Math.min(one.weight, 1) }));
  return drawn(port, weighted, client, true);
}

function drawn(
  { affinitySeconds }: ServicePort,
  endpoints: readonly Endpoint[],
  client: Client,
  masquerade: boolean,
  hashesSource = false,
): Outcome {
  // Weights distribute traffic, they do not stop it.
  const weighted = endpoints.some(({ weight }) => weight > 0);
  const weightOf = ({ weight }: Endpoint): number => (weighted ? weight : 1);
  const total = endpoints.reduce((sum, one) => sum + weightOf(one), 0);
  const draws = endpoints
    .filter((one) => weightOf(one) > 0)
    .map((one) => ({
      address: one.address,
      port: one.port,
      share: weightOf(one) / total,
      // A client that is its own endpoint would get replies past the node.
      masqueraded: masquerade || one.address === client.source,
    }));
  return { kind: 'endpoints', draws, affinitySeconds, hashesSource };
}

/** Source ranges concern addresses of load balancers only. */
function isAdmitted({ port, frontend }: Served, client: Client, { node }: Circumstances): boolean {
  if (frontend.kind !== 'load-balancer-ip' || port.sourceRanges.length === 0) return true;
  const ranges = new Networks(port.sourceRanges);
  // A node that has the address of the load balancer sends with it, but is meant by its own.
  const sources = client.source === frontend.address ? node.primaryAddresses : [client.source];
  return sources.some((source) => ranges.has(source));
}

/** Whether the source of packets to a cluster IP is rewritten. */
function masqueradesInternal(
  { family, frontends }: ServicePort,
  client: Client,
  circumstances: Circumstances,
): boolean {
  const { mode, iptables, nftables } = circumstances.configuration;
  const { masqueradeAll = false } = (mode === 'nftables' ? nftables : iptables) ?? {};
  const isPod = isLocalPod(family, client, circumstances);
  // In IPVS mode the node sends with the address of the Service, which nobody else can reply to.
  const usesServiceAddress = mode === 'ipvs' && frontends.some(({ address }) => address === client.source);
  return masqueradeAll || (isPod === undefined ? usesServiceAddress : !isPod);
}

/** Undefined where the configuration gives no way to tell (docs/internals/spec/model.md §6). */
function isLocalPod(
  family: Family,
  { source, inputInterface = '' }: Client,
  { node, configuration }: Circumstances,
): boolean | undefined {
  const { detectLocalMode = 'ClusterCIDR', detectLocal = {}, clusterCIDR = '' } = configuration;
  const inFirst = (networks: readonly string[]): boolean | undefined => {
    const [first] = new Networks(networks).of(family);
    return first === undefined ? undefined : new Networks([first]).has(source);
  };
  switch (detectLocalMode) {
    case 'NodeCIDR':
      return inFirst(node.podCIDRs);
    case 'BridgeInterface':
      return inputInterface === detectLocal.bridgeInterface;
    case 'InterfaceNamePrefix':
      return inputInterface.startsWith(detectLocal.interfaceNamePrefix!);
    default:
      return inFirst(clusterCIDR.split(','));
  }
}

/** Whether node ports are served at an address of the node (docs/internals/spec/model.md §7). */
export function servesNodePorts(
  address: string,
  family: Family,
  { node, configuration }: Circumstances,
): boolean {
  if (!node.localAddresses.includes(address)) return false;
  if (configuration.mode === 'userspace') return true;
  const { mode, nodePortAddresses = mode === 'nftables' ? ['primary'] : [], iptables = {} } = configuration;
  const primary = nodePortAddresses.includes('primary');
  const networks = new Networks(
    primary
      ? node.primaryAddresses.map((one) => `${one}/${one.includes(':') ? 128 : 32}`)
      : nodePortAddresses,
  );
  const own = networks.of(family);
  const isAll = own.length === 0 || own.some((network) => network.endsWith('/0'));
  if (!isAll && !new Networks(own).has(address)) return false;
  if (!isLoopback(address)) return true;
  return (
    mode === 'iptables' &&
    family === 'IPv4' &&
    iptables.localhostNodePorts !== false &&
    (isAll || new Networks(own).has('127.0.0.1'))
  );
}

function isLoopback(address: string): boolean {
  return address === '::1' || address.startsWith('127.');
}

/**
 * What meets a packet to a port that no Service has, at an address that is a Service's or might become one.
 * @param isClusterIP in IPVS mode, any address of a Service
 */
export function unservedOutcome(isClusterIP: boolean, isInServiceRange: boolean, mode: Mode): Outcome {
  // In IPVS mode the node has the addresses of Services: it rejects what nobody listens for.
  if (mode === 'ipvs') return isClusterIP ? REJECTED : UNTOUCHED;
  if (mode === 'iptables' || mode === 'userspace') return UNTOUCHED;
  return isClusterIP ? REJECTED : isInServiceRange ? DROPPED : UNTOUCHED;
}
