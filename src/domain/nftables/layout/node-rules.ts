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
import {
  CLEAR_PRIORITY,
  DROP,
  leadTo,
  MASQUERADE,
  markFlip,
  markHas,
  markSet,
  NEW_CONNECTION,
  priorityAtLeast,
  RETURN,
  rule,
  RuleParts,
  setPriority,
  TRANSLATED,
  type Comparison,
  type RulePart,
} from './rule-parts.js';
import type { ChainDefinition, Hook, SetDefinition } from './table.js';
import type { KernelRule } from '../kernel/ruleset.js';

/** A chain and all its rules. */
export interface ChainRules {
  readonly chain: ChainDefinition;
  readonly rules: readonly KernelRule[];
}

/**
 * Numbers and ids of endpoints have the top bit set. They are still in the packet's priority after it is translated,
 * and that bit identifies them when it leaves.
 */
export const FIRST_NUMBER = 0x80000000;

/** Inputs of the rules of every table besides the node. */
interface TableShape {
  /** The prefix lengths for which a set of sources exists. */
  readonly sourceLengths: readonly number[];
  /** Packets that meet none of our rules are led to what kube-proxy left of some service ports. */
  readonly keepsKubeProxyRules: boolean;
}

/** Matches packets from where local traffic comes, or from elsewhere. */
export function localTraffic(parts: RuleParts, detector: LocalTrafficDetector, is: Comparison): RulePart {
  return detector.kind === 'cidr'
    ? parts.address('saddr', is, cidrText(detector.cidr))
    : parts.inputInterface(is, detector.name, detector.wildcard);
}

/**
 * The chains that every table has, with their rules: where each hook leads, and what is decided regardless of the
 * traffic class (docs/internals/spec/nftables.md §3 and §5).
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
  const parts = new RuleParts(node.family);
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
    regular('services', servicesRules(node, parts)),
    regular('masquerading', masqueradingRules(node, parts)),
    regular('firewall-check', firewallRules(sourceLengths, parts)),
    regular('service-endpoints-check', [
      rule([parts.member(BY_ADDRESS.fields, setsOf(BY_ADDRESS).noEndpoints.name), parts.reject]),
      rule([parts.member(BY_ADDRESS.fields, setsOf(BY_ADDRESS).noLocalEndpoints.name), DROP]),
    ]),
    regular('nodeport-endpoints-check', nodePortChecks(node, parts)),
    regular('cluster-ips-check', clusterIPRules(node, parts)),
  ];
}

function servicesRules(node: NodeNetwork, parts: RuleParts): readonly KernelRule[] {
  const toClusterIP = parts.member(['daddr'], CLUSTER_IPS.name);
  const mark = markSet(node.masqueradeBit);
  const rules: KernelRule[] = [];
  if (node.masqueradeAll) {
    rules.push(rule([toClusterIP, mark], 'masquerade all clusterIP traffic'));
  } else if (node.detector) {
    const notLocal = localTraffic(parts, node.detector, '!=');
    rules.push(rule([toClusterIP, notLocal, mark], 'masquerade clusterIP traffic from outside cluster'));
  }
  const dispatch = (variant: FrontendVariant): readonly RulePart[] => [
    setPriority(parts.mapped(variant.fields, setsOf(variant).frontends.name)),
    parts.verdict(['priority'], setsOf(variant).classes.name),
  ];
  rules.push(
    rule(dispatch(BY_ADDRESS)),
    rule([...nodePortAddresses(node, parts), ...dispatch(BY_NODE_PORT)]),
  );
  return rules;
}

/**
 * The last rules before the packet leaves: they clear the priority that carried an endpoint's number, masquerade marked
 * packets and clear the mark, and masquerade packets that were sent back to their own pod.
 */
function masqueradingRules({ masqueradeBit: bit }: NodeNetwork, parts: RuleParts): readonly KernelRule[] {
  return [
    rule([TRANSLATED, priorityAtLeast(FIRST_NUMBER), CLEAR_PRIORITY]),
    rule([markHas(bit), markFlip(bit), MASQUERADE]),
    rule([TRANSLATED, parts.member(['saddr', ...BY_ADDRESS.fields], HAIRPIN_CONNECTIONS.name), MASQUERADE]),
  ];
}

function firewallRules(sourceLengths: readonly number[], parts: RuleParts): readonly KernelRule[] {
  return [
    rule([parts.member(BY_ADDRESS.fields, RESTRICTED_FRONTENDS.name, '!='), RETURN]),
    ...sourceLengths.map((sourceBits) =>
      rule([parts.member([...BY_ADDRESS.fields, { sourceBits }], sourcesSet(sourceBits).name), RETURN]),
    ),
    rule([DROP]),
  ];
}

function nodePortChecks(node: NodeNetwork, parts: RuleParts): readonly KernelRule[] {
  const atThisNode = acceptingNodePorts(node, parts);
  const toRejected = verdict(parts, BY_NODE_PORT, REJECTED_NODE_PORTS);
  const { noEndpoints, noLocalEndpoints } = setsOf(BY_NODE_PORT);
  return [
    rule([atThisNode, parts.member(BY_NODE_PORT.fields, noEndpoints.name), parts.reject]),
    rule([atThisNode, parts.member(BY_NODE_PORT.fields, noLocalEndpoints.name), DROP]),
    ...(node.loopbackNodePorts ? [rule([toLoopback(node, parts, '=='), toRejected])] : []),
  ];
}

/**
 * Only packets with an untranslated destination get here: an address in use with a wrong port is rejected, an unused
 * one dropped.
 */
function clusterIPRules(node: NodeNetwork, parts: RuleParts): readonly KernelRule[] {
  return [
    rule(
      [parts.member(['daddr'], CLUSTER_IPS.name), parts.reject],
      'Reject traffic to invalid ports of ClusterIPs',
    ),
    ...node.serviceCIDRs.map((network) =>
      rule([parts.address('daddr', '==', network), DROP], 'Drop traffic to unallocated ClusterIPs'),
    ),
  ];
}

function all(chain: string): KernelRule {
  return rule([leadTo('jump', chain)]);
}

function newConnections(chain: string): KernelRule {
  return rule([NEW_CONNECTION, leadTo('jump', chain)]);
}

function base(
  name: string,
  type: Hook['type'],
  hook: Hook['hook'],
  priority: number,
  rules: readonly KernelRule[],
): ChainRules {
  return { chain: { name, hook: { type, hook, priority } }, rules };
}

function regular(name: string, rules: readonly KernelRule[]): ChainRules {
  return { chain: { name }, rules };
}

/** By this rule of `services` our table is known where kube-proxy's maps are kept in it. */
export function rulesKeptForKubeProxy(family: IpFamily): KernelRule {
  return rule(
    [verdict(new RuleParts(family), BY_ADDRESS, kubeProxyMapsOf(BY_ADDRESS).services)],
    'rules of kube-proxy, for what cannot be programmed',
  );
}

/** The rules that lead to kube-proxy's rules, by chain: before our rules and after them. */
function kubeProxyRules(
  node: NodeNetwork,
): Readonly<
  Record<string, { readonly first?: readonly KernelRule[]; readonly last?: readonly KernelRule[] }>
> {
  const parts = new RuleParts(node.family);
  const [byAddress, byNodePort] = [kubeProxyMapsOf(BY_ADDRESS), kubeProxyMapsOf(BY_NODE_PORT)];
  const nodePorts = [...nodePortAddresses(node, parts), verdict(parts, BY_NODE_PORT, byNodePort.services)];
  const nodePortCheck = [
    acceptingNodePorts(node, parts),
    verdict(parts, BY_NODE_PORT, byNodePort.noEndpoints),
  ];
  return {
    services: { last: [rulesKeptForKubeProxy(node.family), rule(nodePorts)] },
    'firewall-check': { first: [rule([verdict(parts, BY_ADDRESS, byAddress.firewall!)])] },
    'service-endpoints-check': { last: [rule([verdict(parts, BY_ADDRESS, byAddress.noEndpoints)])] },
    'nodeport-endpoints-check': { last: [rule(nodePortCheck)] },
  };
}

/** Before the destination is translated: it is an address of the node that takes node ports. */
function nodePortAddresses(node: NodeNetwork, parts: RuleParts): readonly RulePart[] {
  const accepting = acceptingNodePorts(node, parts);
  return node.nodePortIPs === 'all' ? [parts.local('daddr'), accepting] : [accepting];
}

/** The same of packets to the node itself. */
function acceptingNodePorts(node: NodeNetwork, parts: RuleParts): RulePart {
  return node.nodePortIPs === 'all'
    ? toLoopback(node, parts, '!=')
    : parts.member(['daddr'], NODEPORT_IPS.name);
}

function verdict(parts: RuleParts, { fields }: FrontendVariant, { name }: SetDefinition): RulePart {
  return parts.verdict(fields, name);
}

function toLoopback({ family }: NodeNetwork, parts: RuleParts, is: Comparison): RulePart {
  return parts.address('daddr', is, family === 'IPv4' ? '127.0.0.0/8' : '::1');
}
