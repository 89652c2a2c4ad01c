/** The rules that every table has, regardless of its services. */

import type { NodeNetwork } from '../../forwarding/node-network.js';
import { cidrText } from '../../net/cidr.js';
import type { IpFamily } from '../../net/ip-family.js';
import type { LocalTrafficDetector } from '../../node/local-traffic-detector.js';
import { kubeProxyMapsOf } from './kube-proxy-maps.js';
import {
  BY_ADDRESS,
  BY_NODE_PORT,
  type FrontendVariant,
  CLUSTER_IPS,
  RESTRICTED_FRONTENDS,
  HAIRPIN_CONNECTIONS,
  REJECTED_NODE_PORTS,
  setsOf,
  sourcesSet,
  NODEPORT_IPS,
} from './sets.js';
import type { Comparison, Rule, Statement, ChainDefinition, Hook, SetDefinition } from './table.js';

/** A chain and all its rules. */
export interface ChainRules {
  readonly chain: ChainDefinition;
  readonly rules: readonly Rule[];
}

/**
 * Numbers and ids of endpoints have the top bit set. They are still in the packet's priority after it is translated,
 * and that bit identifies them when it leaves.
 */
export const FIRST_NUMBER = 0x80000000;

/** What the rules of every table depend on besides the node. */
interface TableShape {
  /** The prefix lengths for which a set of sources exists. */
  readonly sourceLengths: readonly number[];
  /** Packets that meet none of our rules are led to what kube-proxy left of some service ports. */
  readonly keepsKubeProxyRules: boolean;
}

export function localTrafficStatement(detector: LocalTrafficDetector, is: Comparison): Statement {
  return detector.kind === 'cidr'
    ? { kind: 'address', field: 'saddr', is, network: cidrText(detector.cidr) }
    : { kind: 'input-interface', is, name: detector.name, wildcard: detector.wildcard };
}

/**
 * The chains that every table has, with their rules: where each hook leads, and what is decided regardless of the
 * traffic class (docs/spec/nftables.md §3 and §5).
 */
export function nodeChains(
  node: NodeNetwork,
  { sourceLengths, keepsKubeProxyRules }: TableShape,
): readonly ChainRules[] {
  const chains = ownChains(node, sourceLengths);
  if (!keepsKubeProxyRules) return chains;
  const theirs = kubeProxyRules(node);
  return chains.map(({ chain, rules }) => {
    const { first = [], last = [] } = theirs[chain.name] ?? {};
    return { chain, rules: [...first, ...rules, ...last] };
  });
}

function ownChains(node: NodeNetwork, sourceLengths: readonly number[]): readonly ChainRules[] {
  return [
    base('filter-prerouting-pre-dnat', 'filter', 'prerouting', -110, [newConnections('firewall-check')]),
    base('filter-output-pre-dnat', 'filter', 'output', -110, [newConnections('firewall-check')]),
    base('filter-input', 'filter', 'input', 0, [
      newConnections('nodeport-endpoints-check'),
      newConnections('service-endpoints-check'),
    ]),
    base('filter-forward', 'filter', 'forward', 0, [
      newConnections('service-endpoints-check'),
      newConnections('cluster-ips-check'),
    ]),
    base('filter-output', 'filter', 'output', 0, [
      newConnections('service-endpoints-check'),
      newConnections('cluster-ips-check'),
    ]),
    base('nat-prerouting', 'nat', 'prerouting', -100, [all('services')]),
    base('nat-output', 'nat', 'output', -100, [all('services')]),
    base('nat-postrouting', 'nat', 'postrouting', 100, [all('masquerading')]),
    regular('services', servicesRules(node)),
    regular('masquerading', masqueradingRules(node)),
    regular('firewall-check', firewallRules(sourceLengths)),
    regular('service-endpoints-check', [
      { statements: [member(BY_ADDRESS.fields, setsOf(BY_ADDRESS).noEndpoints.name), { kind: 'reject' }] },
      { statements: [member(BY_ADDRESS.fields, setsOf(BY_ADDRESS).noLocalEndpoints.name), { kind: 'drop' }] },
    ]),
    regular('nodeport-endpoints-check', nodePortChecks(node)),
    regular('cluster-ips-check', clusterIPRules(node)),
  ];
}

function servicesRules(node: NodeNetwork): readonly Rule[] {
  const toClusterIP = member([{ field: 'daddr' }], CLUSTER_IPS.name);
  const mark: Statement = { kind: 'mark-set', bit: node.masqueradeBit };
  const rules: Rule[] = [];
  if (node.masqueradeAll) {
    rules.push({ statements: [toClusterIP, mark], comment: 'masquerade all clusterIP traffic' });
  } else if (node.detector) {
    const notLocal = localTrafficStatement(node.detector, '!=');
    rules.push({
      statements: [toClusterIP, notLocal, mark],
      comment: 'masquerade clusterIP traffic from outside cluster',
    });
  }
  const dispatch = (variant: FrontendVariant): readonly Statement[] => [
    { kind: 'set-priority', to: { key: variant.fields, map: setsOf(variant).frontends.name } },
    { kind: 'verdict-map', key: [{ field: 'priority' }], map: setsOf(variant).classes.name },
  ];
  rules.push(
    { statements: dispatch(BY_ADDRESS) },
    { statements: [...nodePortAddresses(node), ...dispatch(BY_NODE_PORT)] },
  );
  return rules;
}

/**
 * The last rules before the packet leaves: they clear the priority that carried an endpoint's number, masquerade marked
 * packets and clear the mark, and masquerade packets that were sent back to their own pod.
 */
function masqueradingRules({ masqueradeBit: bit }: NodeNetwork): readonly Rule[] {
  return [
    {
      statements: [
        { kind: 'translated' },
        { kind: 'priority-at-least', value: FIRST_NUMBER },
        { kind: 'set-priority', to: 'none' },
      ],
    },
    { statements: [{ kind: 'mark-has', bit }, { kind: 'mark-flip', bit }, { kind: 'masquerade' }] },
    {
      statements: [
        { kind: 'translated' },
        member([{ field: 'saddr' }, ...BY_ADDRESS.fields], HAIRPIN_CONNECTIONS.name),
        { kind: 'masquerade' },
      ],
    },
  ];
}

function firewallRules(sourceLengths: readonly number[]): readonly Rule[] {
  return [
    {
      statements: [{ ...member(BY_ADDRESS.fields, RESTRICTED_FRONTENDS.name), is: '!=' }, { kind: 'return' }],
    },
    ...sourceLengths.map((prefixLength): Rule => {
      const key = [...BY_ADDRESS.fields, { field: 'saddr', prefixLength } as const];
      return { statements: [member(key, sourcesSet(prefixLength).name), { kind: 'return' }] };
    }),
    { statements: [{ kind: 'drop' }] },
  ];
}

function nodePortChecks(node: NodeNetwork): readonly Rule[] {
  const atThisNode = acceptingNodePorts(node);
  const toRejected = verdict(BY_NODE_PORT, REJECTED_NODE_PORTS);
  const { noEndpoints, noLocalEndpoints } = setsOf(BY_NODE_PORT);
  return [
    { statements: [atThisNode, member(BY_NODE_PORT.fields, noEndpoints.name), { kind: 'reject' }] },
    { statements: [atThisNode, member(BY_NODE_PORT.fields, noLocalEndpoints.name), { kind: 'drop' }] },
    ...(node.loopbackNodePorts ? [{ statements: [toLoopback(node.family, '=='), toRejected] }] : []),
  ];
}

/**
 * Only packets with an untranslated destination get here: an address in use with a wrong port is rejected, an unused
 * one dropped.
 */
function clusterIPRules(node: NodeNetwork): readonly Rule[] {
  return [
    {
      statements: [member([{ field: 'daddr' }], CLUSTER_IPS.name), { kind: 'reject' }],
      comment: 'Reject traffic to invalid ports of ClusterIPs',
    },
    ...node.serviceCIDRs.map((network): Rule => ({
      statements: [{ kind: 'address', field: 'daddr', is: '==', network }, { kind: 'drop' }],
      comment: 'Drop traffic to unallocated ClusterIPs',
    })),
  ];
}

function all(chain: string): Rule {
  return { statements: [{ kind: 'jump', chain }] };
}

function newConnections(chain: string): Rule {
  return { statements: [{ kind: 'new-connection' }, { kind: 'jump', chain }] };
}

function base(
  name: string,
  type: Hook['type'],
  hook: Hook['hook'],
  priority: number,
  rules: readonly Rule[],
): ChainRules {
  return { chain: { name, hook: { type, hook, priority } }, rules };
}

function regular(name: string, rules: readonly Rule[]): ChainRules {
  return { chain: { name }, rules };
}

/** By this rule of `services` our table is known where kube-proxy's maps are kept in it. */
export const KEEPS_KUBE_PROXY_RULES: Rule = {
  statements: [verdict(BY_ADDRESS, kubeProxyMapsOf(BY_ADDRESS).services)],
  comment: 'rules of kube-proxy, for what cannot be programmed',
};

/** What leads to kube-proxy's rules, by chain: before our rules and after them. */
function kubeProxyRules(
  node: NodeNetwork,
): Readonly<Record<string, { readonly first?: readonly Rule[]; readonly last?: readonly Rule[] }>> {
  const [byAddress, byNodePort] = [kubeProxyMapsOf(BY_ADDRESS), kubeProxyMapsOf(BY_NODE_PORT)];
  const nodePorts = { statements: [...nodePortAddresses(node), verdict(BY_NODE_PORT, byNodePort.services)] };
  const nodePortCheck = {
    statements: [acceptingNodePorts(node), verdict(BY_NODE_PORT, byNodePort.noEndpoints)],
  };
  return {
    services: { last: [KEEPS_KUBE_PROXY_RULES, nodePorts] },
    'firewall-check': { first: [{ statements: [verdict(BY_ADDRESS, byAddress.firewall!)] }] },
    'service-endpoints-check': { last: [{ statements: [verdict(BY_ADDRESS, byAddress.noEndpoints)] }] },
    'nodeport-endpoints-check': { last: [nodePortCheck] },
  };
}

/** Before the destination is translated: it is an address of the node that takes node ports. */
function nodePortAddresses(node: NodeNetwork): readonly Statement[] {
  const isLocal: readonly Statement[] =
    node.nodePortIPs === 'all' ? [{ kind: 'local-address', field: 'daddr' }] : [];
  return [...isLocal, acceptingNodePorts(node)];
}

/** The same of packets to the node itself. */
function acceptingNodePorts(node: NodeNetwork): Statement {
  return node.nodePortIPs === 'all'
    ? toLoopback(node.family, '!=')
    : member([{ field: 'daddr' }], NODEPORT_IPS.name);
}

function member(
  key: Extract<Statement, { kind: 'member' }>['key'],
  set: string,
): Extract<Statement, { kind: 'member' }> {
  return { kind: 'member', key, set, is: '==' };
}

function verdict({ fields: key }: FrontendVariant, { name: map }: SetDefinition): Statement {
  return { kind: 'verdict-map', key, map };
}

function toLoopback(family: IpFamily, is: Comparison): Statement {
  return { kind: 'address', field: 'daddr', is, network: family === 'IPv4' ? '127.0.0.0/8' : '::1' };
}
