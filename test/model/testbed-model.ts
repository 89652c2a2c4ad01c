/** What the model says of the test bed (test/support/testbed), and what a probe sees of that. */

import { parseAllDocuments } from 'yaml';
import { localAddresses, ownAddressTowards } from '../support/testbed/network.js';
import type { Target } from '../support/testbed/probe-plan.js';
import { place } from './addresses.js';
import { Model } from './model.js';
import type {
  Client,
  Cluster,
  Configuration,
  Destination,
  EndpointSlice,
  Node,
  Protocol,
  Service,
} from './objects.js';
import type { Outcome } from './outcome.js';

/** The clients of the test bed; a program of the node uses the address of its route. */
const CLIENTS: Readonly<
  Record<string, { kind: Client['kind']; inputInterface?: string; sources: readonly string[] }>
> = {
  pod: { kind: 'pod', inputInterface: 'vethpod1', sources: ['10.244.1.200', 'fd00:10:244:1::200'] },
  node: { kind: 'node', sources: [] },
  ext: { kind: 'outside', inputInterface: 'ext0', sources: ['198.18.0.50', '2001:db8:18::50'] },
  ext10: { kind: 'outside', inputInterface: 'ext0', sources: ['10.9.9.9'] },
  ext203: { kind: 'outside', inputInterface: 'ext0', sources: ['203.0.113.5'] },
  ext192: { kind: 'outside', inputInterface: 'ext0', sources: ['192.168.7.7'] },
  farpod: { kind: 'outside', inputInterface: 'ext0', sources: ['10.244.2.200'] },
};

/** As `probe` names it. */
export type Seen =
  | string
  | { readonly to?: readonly string[]; readonly masq?: boolean | 'mixed'; readonly sticky?: boolean };

interface KubernetesObject {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly labels?: Readonly<Record<string, string>> };
  readonly spec?: { readonly cidrs?: readonly string[]; readonly podCIDRs?: readonly string[] };
  readonly status?: { readonly addresses?: readonly { readonly type: string; readonly address: string }[] };
}

function stateOf(yaml: string): { readonly cluster: Cluster; readonly node: Node } {
  const objects = parseAllDocuments(yaml).map((document) => document.toJS() as KubernetesObject);
  const of = <Type = KubernetesObject>(kind: string): readonly Type[] =>
    objects.filter((one) => one.kind === kind) as unknown as readonly Type[];
  const [node] = of('Node');
  return {
    cluster: {
      services: of<Service>('Service'),
      slices: of<EndpointSlice>('EndpointSlice'),
      serviceCIDRs: of('ServiceCIDR').flatMap(({ spec }) => spec?.cidrs ?? []),
    },
    node: {
      name: node!.metadata.name,
      zone: node!.metadata.labels?.['topology.kubernetes.io/zone'] ?? '',
      podCIDRs: node!.spec?.podCIDRs ?? [],
      primaryAddresses: (node!.status?.addresses ?? []).flatMap(({ type, address }) =>
        type === 'InternalIP' ? address : [],
      ),
      localAddresses: [...localAddresses],
    },
  };
}

/** The connections of one client to one address. */
export interface Met {
  readonly client: string;
  readonly target: Target;
  /** How many of them met an ICMP error or a reset. */
  readonly refused: number;
  /** Those that the node tracks. */
  readonly tracked: readonly Tracked[];
  /** In userspace mode, the endpoints that answered over TCP. */
  readonly answered?: readonly Required<Tracked>[];
}

/** A connection that the node tracks. */
export interface Tracked {
  /** Where it was sent on to; undefined: nowhere else. */
  readonly endpoint?: string;
  readonly masqueraded: boolean;
}

/** The model of the node of the test bed. @param objects as a manifest */
export class TestbedModel {
  readonly model: Model;

  constructor(
    objects: string,
    private readonly configuration: Configuration,
  ) {
    const { cluster, node } = stateOf(objects);
    this.model = new Model(cluster, node, configuration);
  }

  /** What a probe may see when it connects from a client, by its name. */
  expected(target: Target, clientName: string): readonly Seen[] {
    return seen(this.outcome(target, clientName), this.client(target.dst, clientName), target);
  }

  /** What a connection meets. @param clientName as the test bed has it */
  outcome(target: Target, clientName: string): Outcome {
    return this.model.outcome(this.client(target.dst, clientName), destinationOf(target));
  }

  /** The problem of the connections of a client; undefined if there is none. */
  problemOf(met: Met): string | undefined {
    return this.isRelayed ? this.problemOfRelayed(met) : this.problemOfNat(met);
  }

  /** Userspace mode: connections end in the proxy, which opens others. */
  get isRelayed(): boolean {
    return this.configuration.mode === 'userspace';
  }

  private problemOfNat({ client, target, refused, tracked }: Met): string | undefined {
    const outcome = this.outcome(target, client);
    const forwarded = tracked.filter(({ endpoint }) => endpoint !== undefined);
    if (forwarded.length === 0) {
      const met = refused > 0 ? 'reject' : tracked.length > 0 ? 'untouched' : 'drop';
      const allowed = this.expected(target, client);
      // The proxy removes UDP flows that lead past a Service, so that afterwards nothing of them is to be seen.
      const isRemoved = met === 'drop' && target.proto === 'udp' && allowed.includes('untouched');
      // Clients of SCTP hear nothing of a rejection (test/support/testbed/sctp.ts).
      if (isRemoved || (target.proto === 'sctp' && outcome.kind !== 'endpoints')) return undefined;
      return allowed.includes(met) ? undefined : `${met} instead of ${JSON.stringify(allowed)}`;
    }
    if (outcome.kind !== 'endpoints')
      return `forwarded to ${forwarded[0]!.endpoint!} instead of ${outcome.kind}`;
    if (forwarded.length < Math.max(target.n, tracked.length))
      return `${forwarded.length} of ${Math.max(target.n, tracked.length)} connections forwarded`;
    const wrong = forwarded.find(
      (one) => !this.draws(outcome, target, client).some((draw) => isSame(one, draw)),
    );
    if (wrong)
      return `forwarded as ${JSON.stringify(wrong)}, which is none of ${JSON.stringify(outcome.draws)}`;
    const endpoints = new Set(forwarded.map(({ endpoint }) => endpoint));
    if ((outcome.affinitySeconds > 0 || outcome.hashesSource) && endpoints.size > 1)
      return `a client with session affinity got ${[...endpoints].join(' and ')}`;
    return refused > 0 ? `${refused} connections to endpoints were rejected` : undefined;
  }

  /** The node sends connections on to a port of its own, where the proxy listens for this port of the Service alone. */
  private problemOfRelayed(met: Met): string | undefined {
    const { client, target, tracked, answered = [] } = met;
    const outcome = this.outcome(target, client);
    if (outcome.kind !== 'endpoints') return this.problemOfNat(met);
    // A flow that has no endpoint may be forgotten by now.
    if (target.proto === 'udp' && outcome.draws.length === 0 && tracked.length === 0) return undefined;
    const ports = new Set(tracked.map(({ endpoint }) => endpoint));
    const [port] = ports;
    if (
      ports.size !== 1 ||
      port === undefined ||
      !localAddresses.has(port.replace(/^\[?(.*?)\]?:\d+$/, '$1'))
    )
      return `forwarded to ${[...ports].join(' and ') || 'no port'} instead of one of the proxy`;
    if (target.proto !== 'tcp') return undefined;
    const allowed = this.draws(outcome, target, client);
    const wrong = answered.find((one) => !allowed.some((draw) => isSame(one, draw)));
    if (wrong) return `${JSON.stringify(wrong)} answered, which is none of ${JSON.stringify(allowed)}`;
    const endpoints = new Set(answered.map(({ endpoint }) => endpoint));
    if ((outcome.affinitySeconds > 0 || outcome.hashesSource) && endpoints.size > 1)
      return `a client with session affinity got ${[...endpoints].join(' and ')}`;
    const expected = allowed.length === 0 ? 0 : target.n;
    return answered.length === expected
      ? undefined
      : `${answered.length} of ${expected} connections were answered`;
  }

  /** The endpoints that a client may get, as the node would track them. */
  draws(outcome: Outcome, target: Target, clientName: string): readonly Required<Tracked>[] {
    if (outcome.kind !== 'endpoints') return [];
    const { source } = this.client(target.dst, clientName);
    return outcome.draws.map((draw) => ({
      endpoint: place(draw),
      masqueraded: draw.masqueraded && ownAddressTowards(draw.address) !== source,
    }));
  }

  private client(destination: string, name: string): Client {
    const { sources, ...rest } = CLIENTS[name]!;
    // In IPVS mode the node has the addresses of Services: it sends to them with the same address.
    const isBound = this.configuration.mode === 'ipvs' && this.model.bindsAddress(destination);
    const own = isBound ? destination : ownAddressTowards(destination);
    return { ...rest, source: sources[destination.includes(':') ? 1 : 0] ?? own };
  }
}

export function destinationOf({ dst, port, proto }: Target): Destination {
  return { address: dst, port, protocol: proto.toUpperCase() as Protocol };
}

function isSame(one: Tracked, other: Tracked): boolean {
  return one.endpoint === other.endpoint && one.masqueraded === other.masqueraded;
}

/** That a source was rewritten shows only where the address is another one. */
function seen(outcome: Outcome, client: Client, { dst, sticky }: Target): readonly Seen[] {
  switch (outcome.kind) {
    case 'rejected':
      return ['reject'];
    case 'dropped':
      // What a program of the node sends to the node itself is tracked before it is dropped.
      return client.kind === 'node' && localAddresses.has(dst) ? ['drop', 'untouched'] : ['drop'];
    case 'untouched':
      return [localAddresses.has(dst) ? 'reject' : 'untouched'];
    case 'endpoints': {
      const rewritten = [
        ...new Set(
          outcome.draws.map(
            ({ address, masqueraded }) => masqueraded && ownAddressTowards(address) !== client.source,
          ),
        ),
      ];
      if (!sticky) {
        const masq = rewritten.length === 1 ? rewritten[0]! : 'mixed';
        return [{ to: outcome.draws.map(place).sort(), masq }];
      }
      return client.kind === 'node' ? [{ sticky }] : rewritten.map((masq) => ({ masq, sticky }));
    }
  }
}
