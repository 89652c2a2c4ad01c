import type { BalancingMethod } from '../balancing/balancing.js';
import { type ForwardingEntry, type Frontend, frontendName } from '../forwarding/forwarding-entry.js';
import type { NodeNetwork } from '../forwarding/node-network.js';
import { addressText, from, MAX_PORT, numberText, ruleText } from '../iptables/rule-text.js';
import type { SharedEntry } from '../iptables/table.js';
import { sortedOnce } from '../model/endpoint.js';
import { PROTOCOL_NUMBERS, type Protocol } from '../model/service-port-name.js';
import { isLoopback } from '../net/address.js';
import { addressBits, cidrText, type Cidr } from '../net/cidr.js';
import { OUT_FILTER } from './base-rules.js';
import type { IpvsPart, IpvsServicePortRules, ServedAddress, SetMember } from './service-port-rules.js';
import type { ServiceSet } from './service-sets.js';
import { FALLBACK, HASH_SOURCE_PORT, PERSISTENT, type VirtualServer } from './virtual-server.js';

/**
 * Compiles one service port (docs/internals/spec/ipvs.md §4.3, §5, §6.3).
 * @throws UnsafeRuleTextError when a value of the entry is not safe in a rule or a set
 */
export function compileIpvs(entry: ForwardingEntry, options: IpvsOptions): IpvsServicePortRules {
  return new ServicePortCompiler(entry, options).compile();
}

/** The requests of a frontend besides its virtual server. */
interface Asked extends Pick<IpvsPart, 'members'> {
  readonly bound?: string | undefined;
  readonly rules?: IpvsPart['rules'];
}

class ServicePortCompiler {
  private readonly parts = new Map<string, IpvsPart>();
  private readonly protocol: Lowercase<Protocol>;
  private readonly nodeAddresses: ReadonlySet<string>;
  private readonly scheduler: Scheduler;

  constructor(
    private readonly entry: ForwardingEntry,
    private readonly options: IpvsOptions,
  ) {
    this.protocol = entry.name.protocol.toLowerCase() as Lowercase<Protocol>;
    this.nodeAddresses = new Set(options.node.nodeAddresses);
    const { scheduler: usual } = options;
    const wanted = schedulersFor(entry, usual).find(({ scheduler }) => options.hasScheduler(scheduler));
    const { scheduler, flags } = wanted ?? {
      scheduler: usual,
      flags: usual === 'mh' ? HASH_SOURCE_PORT : 0,
    };
    const { weightless, ejected } = entry.endpoints;
    // A real server of weight 0 has its part of the table of sh, which rejects its clients without the flag.
    const needsFallback = scheduler === 'sh' && (weightless ?? ejected) !== undefined;
    this.scheduler = { scheduler, flags: needsFallback ? flags | FALLBACK : flags };
  }

  compile(): IpvsServicePortRules {
    for (const frontend of this.entry.frontends) {
      const { address } = frontend;
      if (address === undefined) this.claimNodePort(frontend);
      else this.claimServed(frontend, address, this.askedAt(frontend, address));
    }
    for (const member of [...this.hairpins(), ...this.healthCheck()])
      this.parts.set(member, { key: member, members: [member], rules: [] });
    return [...this.parts.values()];
  }

  /** The requests of a frontend other than a node port besides its virtual server. An address of the node is not moved. */
  private askedAt({ kind, port }: Frontend, address: string): Asked {
    const { sourceRanges, sourceRangesCoverNode, externalPolicyLocal } = this.entry;
    const member = (set: ServiceSet, source?: string) => this.addressAndPort(set, address, port, source);
    if (kind === 'cluster-ip') return { bound: address, members: [member('KUBE-CLUSTER-IP')] };
    const isOfNode =
      this.nodeAddresses.has(address) || isLoopback({ family: this.entry.family, text: address });
    const bound = isOfNode ? undefined : address;
    if (kind === 'external-ip')
      return {
        bound,
        members: [member(externalPolicyLocal ? 'KUBE-EXTERNAL-IP-LOCAL' : 'KUBE-EXTERNAL-IP')],
      };
    const restricted = sourceRanges.length > 0;
    return {
      bound,
      members: [
        member('KUBE-LOAD-BALANCER'),
        ...(externalPolicyLocal ? [member('KUBE-LOAD-BALANCER-LOCAL')] : []),
        ...sourceRanges.map((range) => member('KUBE-LOAD-BALANCER-SOURCE-CIDR', networkText(range))),
        // Packets of this node to a load-balancer IP that it has bound have that IP as their source.
        ...(sourceRangesCoverNode ? [member('KUBE-LOAD-BALANCER-SOURCE-IP', address)] : []),
        ...(restricted ? [member('KUBE-LOAD-BALANCER-FW')] : []),
      ],
      rules: restricted && !sourceRangesCoverNode ? [this.denyOwnNode(address, port)] : [],
    };
  }

  /** Nothing where no address takes node ports: a member would masquerade packets to every local address. */
  private claimNodePort(frontend: Frontend): void {
    const { nodePortIPs, nodeAddresses = [] } = this.options.node;
    const addresses = nodePortIPs === 'all' ? nodeAddresses : nodePortIPs;
    if (addresses.length === 0) return;
    const { name, externalPolicyLocal } = this.entry;
    const port = numberText('node port', frontend.port, MAX_PORT);
    if (name.protocol !== 'SCTP') {
      const sets: ServiceSet[] = [`KUBE-NODE-PORT-${name.protocol}`];
      if (externalPolicyLocal) sets.push(`KUBE-NODE-PORT-LOCAL-${name.protocol}`);
      const key = frontendName(undefined, Number(port), name.protocol);
      this.claim({ key, frontend: key, members: sets.map((set) => `${set} ${port}` as const), rules: [] });
    }
    const sets: ServiceSet[] = name.protocol === 'SCTP' ? ['KUBE-NODE-PORT-SCTP-HASH'] : [];
    if (sets.length > 0 && externalPolicyLocal) sets.push('KUBE-NODE-PORT-LOCAL-SCTP-HASH');
    for (const address of addresses)
      this.claimServed(frontend, address, {
        members: sets.map((set) => this.addressAndPort(set, address, frontend.port)),
      });
  }

  /** Packets of an endpoint to itself, through any frontend, reach it only when their source is rewritten. */
  private hairpins(): readonly SetMember[] {
    return this.entry.localEndpoints.map(({ address, port }) =>
      this.addressAndPort('KUBE-LOOP-BACK', address, port, address),
    );
  }

  private healthCheck(): readonly SetMember[] {
    const { healthCheckNodePort } = this.entry;
    if (healthCheckNodePort === 0) return [];
    const member = numberText('health check node port', healthCheckNodePort, MAX_PORT);
    return [`KUBE-HEALTH-CHECK-NODE-PORT ${member}`];
  }

  private claimServed(frontend: Frontend, address: string, { members, bound, rules = [] }: Asked): void {
    const key = frontendName(address, frontend.port, this.entry.name.protocol);
    this.claim({
      key,
      frontend: key,
      ...rankOf(frontend),
      served: this.served(frontend, address),
      ...(bound !== undefined && { bound }),
      members: bound === undefined ? members : [...members, `KUBE-IPVS-IPS ${bound}`],
      rules,
    });
  }

  /** An address may be an external IP and a load-balancer IP: it gets the endpoints of the later one, and the members of both. */
  private claim(part: IpvsPart): void {
    const former = this.parts.get(part.key);
    this.parts.set(part.key, {
      ...former,
      ...part,
      ...(former && { rank: Math.min(former.rank ?? 0, part.rank ?? 0) }),
      members: [...(former?.members ?? []), ...part.members],
      rules: [...(former?.rules ?? []), ...part.rules],
    });
  }

  private served(frontend: Frontend, address: string): ServedAddress {
    const { name, affinitySeconds } = this.entry;
    const server: VirtualServer = {
      address: addressText(address),
      protocol: name.protocol,
      port: Number(numberText('port', frontend.port, MAX_PORT)),
      scheduler: this.scheduler.scheduler,
      flags: (affinitySeconds > 0 ? PERSISTENT : 0) | this.scheduler.flags,
      persistenceSeconds: affinitySeconds,
    };
    return { server, endpoints: this.endpointsOf(frontend) };
  }

  /**
   * A Local policy that finds nothing here falls back to all endpoints, unlike in other modes (docs/internals/spec/ipvs.md §4.5). Those
   * that the list lacks keep their connections, as real servers of weight 0.
   */
  private endpointsOf({ policy }: Frontend): ServedAddress['endpoints'] {
    const { local, weightless, ejected } = this.entry.endpoints;
    const which = policy === 'Local' && local?.length ? 'local' : 'cluster';
    const list = this.entry.endpoints[which] ?? [];
    const areWeightless = list.some(({ weight }) => weight === 0);
    const chosen = areWeightless ? list.map((endpoint) => ({ ...endpoint, weight: 1 })) : list;
    const kept = [...(weightless?.[which] ?? []), ...(ejected?.[which] ?? [])];
    if (kept.length === 0) return chosen;
    return sortedOnce([...chosen, ...kept.map((endpoint) => ({ ...endpoint, weight: 0 }))]);
  }

  /** Keeps this node, whose source would be the load-balancer IP itself, out of a load balancer with source ranges. */
  private denyOwnNode(address: string, port: number): SharedEntry {
    const { family, name } = this.entry;
    const match = `-m ipvs --vproto ${PROTOCOL_NUMBERS[name.protocol]} --vaddr ${addressText(address)} --vport ${numberText('port', port, MAX_PORT)}`;
    const rule = ruleText({ source: from(address, family), matches: [match], target: 'DROP' });
    return {
      table: 'filter',
      chain: OUT_FILTER,
      rule,
      frontend: frontendName(address, port, name.protocol),
    };
  }

  private addressAndPort(set: ServiceSet, address: string, port: number, source?: string): SetMember {
    const member = `${addressText(address)},${this.protocol}:${numberText('port', port, MAX_PORT)}`;
    return `${set} ${source === undefined ? member : `${member},${source}`}`;
  }
}

/**
 * At one address and port, as where an external IP is an address of the node, other modes match the address before the node port, and
 * only if there are endpoints.
 */
function rankOf({ address, outcome }: Frontend): Pick<IpvsPart, 'rank'> {
  if (address === undefined) return { rank: 1 };
  return outcome === 'reject' ? { rank: 2 } : {};
}

/** ipset prints a network of full length as its address. */
function networkText(range: Cidr): string {
  return range.prefixLength === addressBits(range.family) ? range.address : cidrText(range);
}

/** Inputs of the rules of a service port besides its forwarding entry. */
export interface IpvsOptions {
  readonly node: Pick<NodeNetwork, 'nodePortIPs' | 'nodeAddresses'>;
  /** The scheduler of Services that request no other one. */
  readonly scheduler: string;
  /** Whether the kernel has the scheduler. */
  readonly hasScheduler: (name: string) => boolean;
}

/** Whether rules compiled for one node suit the other as well. */
export function compilesAlike(one: IpvsOptions['node'], other: IpvsOptions['node']): boolean {
  return (
    one === other ||
    (JSON.stringify(one.nodePortIPs) === JSON.stringify(other.nodePortIPs) &&
      JSON.stringify(one.nodeAddresses) === JSON.stringify(other.nodeAddresses))
  );
}

/** A scheduler, with its flags. */
export type Scheduler = Pick<VirtualServer, 'scheduler' | 'flags'>;

const MAGLEV: Scheduler = { scheduler: 'mh', flags: HASH_SOURCE_PORT };
const MAGLEV_BY_SOURCE: Scheduler = { scheduler: 'mh', flags: 0 };

/** Schedulers with weights, in place of those without. */
const WEIGHTED: Readonly<Record<string, string>> = { rr: 'wrr', lc: 'wlc' };

/**
 * The schedulers for the request of a Service, the best first; none without a request. The one that it names comes before those for
 * `kube-proxy-ts/load-balancing` and weights.
 * @param usual the scheduler of Services without a request
 */
export function schedulersFor(
  { scheduler, balancing }: Pick<ForwardingEntry, 'scheduler' | 'balancing'>,
  usual: string,
): readonly Scheduler[] {
  const named = scheduler === undefined ? [] : [scheduler === 'mh' ? MAGLEV : plain(scheduler)];
  return balancing ? [...named, ...suitable(balancing.method, balancing.isWeighted, usual)] : named;
}

function suitable(method: BalancingMethod, isWeighted: boolean, usual: string): readonly Scheduler[] {
  switch (method) {
    case 'maglev':
      return [MAGLEV];
    case 'maglev-source':
      return [MAGLEV_BY_SOURCE, plain('sh')];
    case 'round-robin':
      return [plain(isWeighted ? 'wrr' : 'rr')];
    case 'least-connections':
      return [plain(isWeighted ? 'wlc' : 'lc')];
    case 'random':
      return Object.hasOwn(WEIGHTED, usual) ? [plain(WEIGHTED[usual]!)] : [];
  }
}

function plain(scheduler: string): Scheduler {
  return { scheduler, flags: 0 };
}
