import type { NodeNetwork } from '../forwarding/node-network.js';
import { jump, sharedChain, acceptRules, markRule, masqueradeRules } from '../iptables/base-rules.js';
import { FORWARD, MARK_MASQ, POSTROUTING, PROXY_FIREWALL, SERVICES } from '../iptables/chain-names.js';
import type { IptablesHost } from '../iptables/options.js';
import { comment, notFromLocalPods, ruleText, type RuleParts } from '../iptables/rule-text.js';
import type { Chain, BaseRules, Jump, RuleText, TableName } from '../iptables/table.js';
import type { IpFamily } from '../net/ip-family.js';
import { setComment, setName, type ServiceSet } from './service-sets.js';

/** Chains of IPVS mode (docs/internals/spec/ipvs.md §6.1). It shares others with iptables mode. */
const LOAD_BALANCER = 'KUBE-LOAD-BALANCER';
const SOURCE_RANGES_FIREWALL = 'KUBE-SOURCE-RANGES-FIREWALL';
export const IPVS_FILTER = 'KUBE-IPVS-FILTER';
export const OUT_FILTER = 'KUBE-IPVS-OUT-FILTER';

/** In table nat it marks packets to node ports, in table filter it accepts health checks. */
const NODE_PORT = 'KUBE-NODE-PORT';

/** Which parts of a packet are looked up in a set. */
type Lookup = 'dst' | 'dst,dst' | 'src,dst' | 'dst,dst,src';

/**
 * The iptables rules of IPVS mode (docs/internals/spec/ipvs.md §6). They refer to services only through the sets. Most rules for a set are
 * there only while it has members.
 * @param filled the sets that have members
 */
export function ipvsBaseRules(
  node: NodeNetwork,
  host: Pick<IptablesHost, 'randomFully'>,
  filled: ReadonlySet<ServiceSet>,
): BaseRules {
  return {
    chains: [...natChains(node, host, filled), ...filterChains(node, filled)],
    shared: [sharedChain('filter', OUT_FILTER)],
    jumps: JUMPS,
    unmanagedChains: [],
  };
}

/** The jumps from built-in chains, in the order in which each is inserted at the head of its chain (docs/internals/spec/ipvs.md §6.1). */
const JUMPS: readonly Jump[] = [
  jump('nat', 'OUTPUT', SERVICES, [comment('kubernetes service portals')]),
  jump('nat', 'PREROUTING', SERVICES, [comment('kubernetes service portals')]),
  jump('nat', 'POSTROUTING', POSTROUTING, [comment('kubernetes postrouting rules')]),
  jump('filter', 'FORWARD', FORWARD, [comment('kubernetes forwarding rules')]),
  jump('filter', 'INPUT', NODE_PORT, [comment('kubernetes health check rules')]),
  jump('filter', 'INPUT', PROXY_FIREWALL, [comment('kube-proxy firewall rules')]),
  jump('filter', 'FORWARD', PROXY_FIREWALL, [comment('kube-proxy firewall rules')]),
  jump('filter', 'INPUT', IPVS_FILTER, [comment('kubernetes ipvs access filter')]),
  jump('filter', 'OUTPUT', OUT_FILTER, [comment('kubernetes ipvs access filter')]),
];

function chain(table: TableName, name: string, rules: readonly RuleText[]): Chain {
  return { table, name, rules };
}

/** Writes rules that match against sets of one family. */
class SetRules {
  constructor(
    private readonly family: IpFamily,
    readonly filled: ReadonlySet<ServiceSet>,
  ) {}

  /** The rule, unless the set has no members. */
  whenFilled(set: ServiceSet, lookup: Lookup, parts: RuleParts): readonly RuleText[] {
    return this.filled.has(set) ? [this.rule(set, lookup, parts)] : [];
  }

  /** The rule, with the set's comment before the match and the other matches after it. */
  rule(set: ServiceSet, lookup: Lookup, parts: RuleParts): RuleText {
    const matches = [comment(setComment(set)), this.match(set, lookup), ...(parts.matches ?? [])];
    return ruleText({ ...parts, matches });
  }

  match(set: ServiceSet, lookup: Lookup): string {
    return `-m set --match-set ${setName(set, this.family)} ${lookup}`;
  }
}

/** By protocol: how the sets end, and what is looked up in them. */
const NODE_PORT_SETS = [
  ['tcp', 'TCP', 'dst'],
  ['udp', 'UDP', 'dst'],
  ['sctp', 'SCTP-HASH', 'dst,dst'],
] as const;

function natChains(
  node: NodeNetwork,
  host: Pick<IptablesHost, 'randomFully'>,
  filled: ReadonlySet<ServiceSet>,
): readonly Chain[] {
  const rules = new SetRules(node.family, filled);
  const nodePorts = NODE_PORT_SETS.flatMap(([name, suffix, lookup]) => {
    const protocol = `-p ${name}`;
    return [
      ...rules.whenFilled(`KUBE-NODE-PORT-LOCAL-${suffix}`, lookup, { protocol, target: 'RETURN' }),
      ...rules.whenFilled(`KUBE-NODE-PORT-${suffix}`, lookup, { protocol, target: MARK_MASQ }),
    ];
  });
  return [
    chain('nat', SERVICES, serviceRules(node, rules)),
    chain('nat', POSTROUTING, [
      ...rules.whenFilled('KUBE-LOOP-BACK', 'dst,dst,src', { target: 'MASQUERADE' }),
      ...masqueradeRules(node.masqueradeBit, host),
    ]),
    chain('nat', NODE_PORT, nodePorts),
    chain('nat', LOAD_BALANCER, [
      ...rules.whenFilled('KUBE-LOAD-BALANCER-LOCAL', 'dst,dst', { target: 'RETURN' }),
      ruleText({ target: MARK_MASQ }),
    ]),
    chain('nat', MARK_MASQ, [markRule(node.masqueradeBit)]),
  ];
}

function serviceRules(node: NodeNetwork, rules: SetRules): readonly RuleText[] {
  const external = (set: ServiceSet) => [
    ...rules.whenFilled(set, 'dst,dst', {
      matches: ['-m physdev ! --physdev-is-in', '-m addrtype ! --src-type LOCAL'],
      target: 'ACCEPT',
    }),
    ...rules.whenFilled(set, 'dst,dst', { matches: ['-m addrtype --dst-type LOCAL'], target: 'ACCEPT' }),
  ];
  const accept = (set: ServiceSet) =>
    rules.filled.has(set) ? [ruleText({ matches: [rules.match(set, 'dst,dst')], target: 'ACCEPT' })] : [];
  return [
    ruleText({ source: node.family === 'IPv4' ? '-s 127.0.0.0/8' : '-s ::1/128', target: 'RETURN' }),
    ...rules.whenFilled('KUBE-LOAD-BALANCER', 'dst,dst', { target: LOAD_BALANCER }),
    ...clusterIPMasquerade(node, rules),
    ...rules.whenFilled('KUBE-EXTERNAL-IP', 'dst,dst', { target: MARK_MASQ }),
    ...external('KUBE-EXTERNAL-IP'),
    ...external('KUBE-EXTERNAL-IP-LOCAL'),
    ruleText({ matches: ['-m addrtype --dst-type LOCAL'], target: NODE_PORT }),
    ...accept('KUBE-CLUSTER-IP'),
    ...accept('KUBE-LOAD-BALANCER'),
  ];
}

/** A process of this node may have a service address as its source. Without a detector only its packets are masqueraded. */
function clusterIPMasquerade({ masqueradeAll, detector }: NodeNetwork, rules: SetRules): readonly RuleText[] {
  const target = MARK_MASQ;
  if (masqueradeAll) return rules.whenFilled('KUBE-CLUSTER-IP', 'dst,dst', { target });
  if (!detector) return rules.whenFilled('KUBE-CLUSTER-IP', 'src,dst', { target });
  return rules.whenFilled('KUBE-CLUSTER-IP', 'dst,dst', { ...notFromLocalPods(detector), target });
}

function filterChains(node: NodeNetwork, filled: ReadonlySet<ServiceSet>): readonly Chain[] {
  const rules = new SetRules(node.family, filled);
  const unreachable = node.family === 'IPv4' ? 'icmp-port-unreachable' : 'icmp6-port-unreachable';
  const known: readonly (readonly [ServiceSet, Lookup])[] = [
    ['KUBE-LOAD-BALANCER', 'dst,dst'],
    ['KUBE-CLUSTER-IP', 'dst,dst'],
    ['KUBE-EXTERNAL-IP', 'dst,dst'],
    ['KUBE-EXTERNAL-IP-LOCAL', 'dst,dst'],
    ['KUBE-HEALTH-CHECK-NODE-PORT', 'dst'],
  ];
  return [
    chain('filter', FORWARD, acceptRules(node.masqueradeBit)),
    chain('filter', NODE_PORT, [rules.rule('KUBE-HEALTH-CHECK-NODE-PORT', 'dst', { target: 'ACCEPT' })]),
    chain(
      'filter',
      PROXY_FIREWALL,
      rules.whenFilled('KUBE-LOAD-BALANCER-FW', 'dst,dst', { target: SOURCE_RANGES_FIREWALL }),
    ),
    chain('filter', SOURCE_RANGES_FIREWALL, [
      ...rules.whenFilled('KUBE-LOAD-BALANCER-SOURCE-CIDR', 'dst,dst,src', { target: 'RETURN' }),
      ...rules.whenFilled('KUBE-LOAD-BALANCER-SOURCE-IP', 'dst,dst,src', { target: 'RETURN' }),
      ruleText({ target: 'DROP' }),
    ]),
    // Listeners of this host must not be reachable at a service address on a port that no service has.
    chain('filter', IPVS_FILTER, [
      ...known.map(([set, lookup]) => ruleText({ matches: [rules.match(set, lookup)], target: 'RETURN' })),
      ruleText({
        matches: ['-m conntrack --ctstate NEW', rules.match('KUBE-IPVS-IPS', 'dst')],
        target: `REJECT --reject-with ${unreachable}`,
      }),
    ]),
  ];
}
