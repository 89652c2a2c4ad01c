import type { NodeNetwork } from '../forwarding/node-network.js';
import {
  CANARY,
  EXTERNAL_SERVICES,
  FIREWALL,
  FORWARD,
  MARK_MASQ,
  NODE_PORTS,
  POSTROUTING,
  PROXY_FIREWALL,
  SERVICES,
} from './chain-names.js';
import { countedBy, type IptablesHost, masqueradeMark } from './options.js';
import { comment, ruleText, to } from './rule-text.js';
import type { Chain, BaseRules, Jump, RuleText, TableName, SharedChain } from './table.js';

/** The content of the tables of a family that does not depend on services (docs/internals/spec/iptables.md §3–§5, §9). */
export function iptablesBaseRules(node: NodeNetwork, host: IptablesHost): BaseRules {
  const ownsFirewall = node.family === 'IPv4' && Boolean(node.localhostNodePorts);
  return {
    chains: [
      { table: 'filter', name: FORWARD, rules: forwardRules(node, host) },
      ...(ownsFirewall ? [{ table: 'filter', name: FIREWALL, rules: [BLOCK_LOCALNET] } as const] : []),
      ...natChains(node, host),
      ...CANARY_TABLES.map((table): Chain => ({ table, name: CANARY, rules: [] })),
    ],
    shared: [
      sharedChain('filter', SERVICES),
      sharedChain('filter', EXTERNAL_SERVICES),
      sharedChain('filter', NODE_PORTS),
      sharedChain('filter', PROXY_FIREWALL),
      sharedChain('nat', SERVICES, nodePortDispatch(node)),
      sharedChain('nat', NODE_PORTS),
    ],
    jumps: JUMPS,
    unmanagedChains: ownsFirewall ? [] : [{ table: 'filter', name: FIREWALL }],
  };
}

const CANARY_TABLES: readonly TableName[] = ['mangle', 'nat', 'filter'];

/** route_localnet lets packets for 127.0.0.0/8 in from outside: only answers may come. */
export const BLOCK_LOCALNET = ruleText({
  source: '! -s 127.0.0.0/8',
  destination: '-d 127.0.0.0/8',
  matches: [
    comment('block incoming localnet connections'),
    '-m conntrack ! --ctstate RELATED,ESTABLISHED,DNAT',
  ],
  target: 'DROP',
});

const NEW = '-m conntrack --ctstate NEW';
const EXTERNAL = comment('kubernetes externally-visible service portals');

/** The jumps from built-in chains, in the order in which each is put at the head of its chain (docs/internals/spec/iptables.md §4). */
const JUMPS: readonly Jump[] = [
  jump('filter', 'INPUT', EXTERNAL_SERVICES, [NEW, EXTERNAL]),
  jump('filter', 'FORWARD', EXTERNAL_SERVICES, [NEW, EXTERNAL]),
  jump('filter', 'INPUT', NODE_PORTS, [comment('kubernetes health check service ports')]),
  jump('filter', 'FORWARD', SERVICES, [NEW, comment('kubernetes service portals')]),
  jump('filter', 'OUTPUT', SERVICES, [NEW, comment('kubernetes service portals')]),
  jump('filter', 'FORWARD', FORWARD, [comment('kubernetes forwarding rules')]),
  jump('filter', 'INPUT', PROXY_FIREWALL, [NEW, comment('kubernetes load balancer firewall')]),
  jump('filter', 'OUTPUT', PROXY_FIREWALL, [NEW, comment('kubernetes load balancer firewall')]),
  jump('filter', 'FORWARD', PROXY_FIREWALL, [NEW, comment('kubernetes load balancer firewall')]),
  jump('nat', 'OUTPUT', SERVICES, [comment('kubernetes service portals')]),
  jump('nat', 'PREROUTING', SERVICES, [comment('kubernetes service portals')]),
  jump('nat', 'POSTROUTING', POSTROUTING, [comment('kubernetes postrouting rules')]),
  jump('filter', 'INPUT', FIREWALL, []),
  jump('filter', 'OUTPUT', FIREWALL, []),
];

function forwardRules({ masqueradeBit }: NodeNetwork, host: IptablesHost): readonly RuleText[] {
  const counter = host.counters.has('ct_state_invalid_dropped_pkts')
    ? [countedBy('ct_state_invalid_dropped_pkts')]
    : [];
  return [
    ...(host.tcpLiberal
      ? []
      : [ruleText({ matches: ['-m conntrack --ctstate INVALID', ...counter], target: 'DROP' })]),
    ...acceptRules(masqueradeBit),
  ];
}

function natChains({ masqueradeBit }: NodeNetwork, host: IptablesHost): readonly Chain[] {
  return [
    { table: 'nat', name: POSTROUTING, rules: masqueradeRules(masqueradeBit, host) },
    { table: 'nat', name: MARK_MASQ, rules: [markRule(masqueradeBit)] },
  ];
}

/** Leads packets for the node's own addresses to the node ports, after every service address was tried. */
function nodePortDispatch({ family, nodePortIPs, localhostNodePorts }: NodeNetwork): readonly RuleText[] {
  const because = comment('kubernetes service nodeports; NOTE: this must be the last rule in this chain');
  const target = NODE_PORTS;
  if (nodePortIPs !== 'all') {
    return nodePortIPs.map((ip) => ruleText({ destination: to(ip, family), matches: [because], target }));
  }
  const loopback = family === 'IPv4' ? '127.0.0.0/8' : '::1/128';
  const withLoopback = family === 'IPv4' && Boolean(localhostNodePorts);
  return [
    ruleText({
      destination: withLoopback ? undefined : `! -d ${loopback}`,
      matches: [because, '-m addrtype --dst-type LOCAL'],
      target,
    }),
  ];
}

/** A rule in a built-in chain that leads on to another one. */
export function jump(
  table: TableName,
  chain: string,
  target: string,
  matches: readonly string[],
  place: Jump['place'] = 'first',
): Jump {
  return { table, chain, rule: ruleText({ matches, target }), place };
}

/** A chain that service ports share. @param after what stands at its end */
export function sharedChain(table: TableName, name: string, after: SharedChain['after'] = []): SharedChain {
  return { table, name, after };
}

/* The rules about packets that are to be masqueraded, the same in iptables and IPVS mode. `bit` is that of the mark. */

/** Marks a packet. */
export function markRule(bit: number): RuleText {
  const mark = masqueradeMark(bit);
  return ruleText({ target: `MARK --set-xmark ${mark}/${mark}` });
}

/**
 * Masquerades marked packets. The mark is taken off before, so that an encapsulated copy of the packet is not masqueraded
 * again.
 */
export function masqueradeRules(
  bit: number,
  { randomFully }: Pick<IptablesHost, 'randomFully'>,
): readonly RuleText[] {
  const mark = masqueradeMark(bit);
  return [
    ruleText({ matches: [`-m mark ! --mark ${mark}/${mark}`], target: 'RETURN' }),
    ruleText({ target: `MARK --set-xmark ${mark}/0x0` }),
    ruleText({
      matches: [comment('kubernetes service traffic requiring SNAT')],
      target: randomFully ? 'MASQUERADE --random-fully' : 'MASQUERADE',
    }),
  ];
}

/** Lets marked packets, and what belongs to connections that are known, through the node. */
export function acceptRules(bit: number): readonly RuleText[] {
  const mark = masqueradeMark(bit);
  return [
    ruleText({
      matches: [comment('kubernetes forwarding rules'), `-m mark --mark ${mark}/${mark}`],
      target: 'ACCEPT',
    }),
    ruleText({
      matches: [
        comment('kubernetes forwarding conntrack rule'),
        '-m conntrack --ctstate RELATED,ESTABLISHED',
      ],
      target: 'ACCEPT',
    }),
  ];
}
