/** What the model says of the test bed (test/support/testbed), and what a probe sees of that. */

import { parseAllDocuments } from 'yaml';
import type { Target } from '../support/testbed/probe-plan.js';
import { Networks, place } from './addresses.js';
import { Model } from './model.js';
import type { Client, Cluster, Configuration, EndpointSlice, Node, Protocol, Service } from './objects.js';
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

const LOCAL_ADDRESSES = [
  ...['10.244.1.1', '198.18.0.1', '169.254.77.1', '198.51.100.11', '127.0.0.1'],
  ...['fd00:10:244:1::1', '2001:db8:18::1', '2001:db8:77::1', '2001:db8:2::11', '::1'],
];

/** Networks, and the address with which the node sends there; the first one counts. */
const ROUTES = [
  ['10.244.1.0/24', '10.244.1.1'],
  ['198.18.0.0/24', '198.18.0.1'],
  ['10.9.9.9/32', '198.18.0.1'],
  ['203.0.113.5/32', '198.18.0.1'],
  ['192.168.7.7/32', '198.18.0.1'],
  ['10.244.2.200/32', '198.18.0.1'],
  ['198.51.100.0/24', '198.51.100.11'],
  ['0.0.0.0/0', '169.254.77.1'],
  ['fd00:10:244:1::/64', 'fd00:10:244:1::1'],
  ['2001:db8:18::/64', '2001:db8:18::1'],
  ['2001:db8:2::/64', '2001:db8:2::11'],
  ['::/0', '2001:db8:77::1'],
].map(([network, source]) => ({ network: new Networks([network!]), source: source! }));

function ownAddressTowards(destination: string): string {
  if (LOCAL_ADDRESSES.includes(destination)) return destination;
  return ROUTES.find(({ network }) => network.has(destination))!.source;
}

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
      localAddresses: LOCAL_ADDRESSES,
    },
  };
}

/** The model of the node of the test bed. @param objects as a manifest */
export class TestbedModel {
  private readonly model: Model;

  constructor(
    objects: string,
    private readonly configuration: Configuration,
  ) {
    const { cluster, node } = stateOf(objects);
    this.model = new Model(cluster, node, configuration);
  }

  /** What a probe may see when it connects from a client, by its name. */
  expected(target: Target, clientName: string): readonly Seen[] {
    const client = this.client(target.dst, clientName);
    const outcome = this.model.outcome(client, {
      address: target.dst,
      port: target.port,
      protocol: target.proto.toUpperCase() as Protocol,
    });
    return seen(outcome, client, target);
  }

  private client(destination: string, name: string): Client {
    const { sources, ...rest } = CLIENTS[name]!;
    // In IPVS mode the node has the addresses of Services: it sends to them with the same address.
    const isBound = this.configuration.mode === 'ipvs' && this.model.bindsAddress(destination);
    const own = isBound ? destination : ownAddressTowards(destination);
    return { ...rest, source: sources[destination.includes(':') ? 1 : 0] ?? own };
  }
}

/** That a source was rewritten shows only where the address is another one. */
function seen(outcome: Outcome, client: Client, { dst, sticky }: Target): readonly Seen[] {
  switch (outcome.kind) {
    case 'rejected':
      return ['reject'];
    case 'dropped':
      // What a program of the node sends to the node itself is tracked before it is dropped.
      return client.kind === 'node' && LOCAL_ADDRESSES.includes(dst) ? ['drop', 'untouched'] : ['drop'];
    case 'untouched':
      return [LOCAL_ADDRESSES.includes(dst) ? 'reject' : 'untouched'];
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
