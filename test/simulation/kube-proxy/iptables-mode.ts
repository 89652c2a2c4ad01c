import type { IpFamily } from '../../../src/domain/net/ip-family.js';
import type { ExpectedEndpoint, ExpectedFrontend } from '../checks/expected-ports.js';
import type { Machine } from '../kernel/machine.js';
import { declared, IPTABLES_JUMPS, IptablesTables, MASQUERADING, OF_PORTS } from './iptables-tables.js';
import { hashOf, MARK, place, type KubeProxyMode, type ServedPort } from './kube-proxy-mode.js';

const COUNTERS = ['ct_state_invalid_dropped_pkts', 'localhost_nps_accepted_pkts'];
const OTHER_CHAINS = ['KUBE-NODEPORTS', 'KUBE-MARK-MASQ'];
const HASH = 16;
const LAST_COMMENT = '"kubernetes service nodeports; NOTE: this must be the last rule in this chain"';

/** Of one port: what it adds to the tables, and its own chains. */
class Rules {
  readonly filter: string[] = [];
  readonly nat: string[] = [];
  readonly chains: string[] = [];
  /** Chains that stay as they are. */
  readonly unchanged: string[] = [];
}

/**
 * The input of `iptables-restore` (docs/internals/spec/iptables.md §5 to §11).
 * @param present chains of table nat that are there
 * @param changed the Services whose own chains are written; undefined: all
 */
export function iptablesRules(
  family: IpFamily,
  ports: readonly ServedPort[],
  present: readonly string[],
  changed?: ReadonlySet<string>,
): string {
  const rules = new Rules();
  for (const port of ports) addPort(rules, port, changed?.has(port.service) ?? true);
  const active = new Set([...rules.chains, ...rules.unchanged]);
  const stale = present.filter((chain) => OF_PORTS.test(chain) && !active.has(chain));
  const isIPv4 = family === 'IPv4';
  const filter = [
    ...['SERVICES', 'EXTERNAL-SERVICES', 'FORWARD', 'NODEPORTS', 'PROXY-FIREWALL'].map(
      (name) => `KUBE-${name}`,
    ),
    ...(isIPv4 ? ['KUBE-FIREWALL'] : []),
  ];
  const nat = [
    'KUBE-SERVICES',
    'KUBE-NODEPORTS',
    'KUBE-POSTROUTING',
    'KUBE-MARK-MASQ',
    ...rules.chains,
    ...stale,
  ];
  return [
    '*filter',
    ...filter.map(declared),
    ...(isIPv4
      ? [
          '-A KUBE-FIREWALL -m comment --comment "block incoming localnet connections" -d 127.0.0.0/8 ! -s 127.0.0.0/8 -m conntrack ! --ctstate RELATED,ESTABLISHED,DNAT -j DROP',
        ]
      : []),
    ...rules.filter,
    '-A KUBE-FORWARD -m conntrack --ctstate INVALID -m nfacct --nfacct-name ct_state_invalid_dropped_pkts -j DROP',
    `-A KUBE-FORWARD -m comment --comment "kubernetes forwarding rules" -m mark --mark ${MARK}/${MARK} -j ACCEPT`,
    '-A KUBE-FORWARD -m comment --comment "kubernetes forwarding conntrack rule" -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT',
    'COMMIT',
    '*nat',
    ...nat.map(declared),
    ...MASQUERADING,
    ...rules.nat,
    ...stale.map((chain) => `-X ${chain}`),
    `-A KUBE-SERVICES -m comment --comment ${LAST_COMMENT} -m addrtype --dst-type LOCAL ${isIPv4 ? '' : '! -d ::1/128 '}-j KUBE-NODEPORTS`,
    'COMMIT',
    '',
  ].join('\n');
}

function addPort(rules: Rules, port: ServedPort, isChanged: boolean): void {
  const { display, protocol, frontends, hasAny, healthCheckNodePort } = port;
  const hash = hashOf(display + protocol, HASH);
  const chain = (kind: string) => `KUBE-${kind}-${hash}`;
  const met = `-m ${protocol} -p ${protocol}`;
  const at = ({ address, port: number }: ExpectedFrontend) => `${met} -d ${address} --dport ${number}`;
  const [comment, verdict] = hasAny
    ? [`-m comment --comment "${display} has no local endpoints"`, '-j DROP']
    : [`-m comment --comment "${display} has no endpoints"`, '-j REJECT'];
  const isFirewalled = hasAny && port.sourceRanges.length > 0 && has(port, 'load-balancer-ip');
  for (const frontend of frontends) {
    switch (frontend.kind) {
      case 'cluster-ip':
        if (port.isServedInside)
          rules.nat.push(
            `-A KUBE-SERVICES -m comment --comment "${display} cluster IP" ${at(frontend)} -j ${chain(port.internalPolicyLocal ? 'SVL' : 'SVC')}`,
          );
        else rules.filter.push(`-A KUBE-SERVICES ${comment} ${at(frontend)} ${verdict}`);
        break;
      case 'external-ip':
      case 'load-balancer-ip': {
        const isBalancer = frontend.kind === 'load-balancer-ip';
        if (hasAny)
          rules.nat.push(
            `-A KUBE-SERVICES -m comment --comment "${display} ${isBalancer ? 'loadbalancer' : 'external'} IP" ${at(frontend)} -j ${chain(isBalancer && isFirewalled ? 'FW' : 'EXT')}`,
          );
        if (isBalancer && isFirewalled)
          rules.filter.push(
            `-A KUBE-PROXY-FIREWALL -m comment --comment "${display} traffic not accepted by ${chain('FW')}" ${at(frontend)} -j DROP`,
          );
        if (!port.isServedOutside)
          rules.filter.push(`-A KUBE-EXTERNAL-SERVICES ${comment} ${at(frontend)} ${verdict}`);
        break;
      }
      case 'node-port':
        if (hasAny) {
          if (port.family === 'IPv4')
            rules.nat.push(
              `-A KUBE-NODEPORTS -m comment --comment ${display} ${met} -d 127.0.0.0/8 --dport ${frontend.port} -m nfacct --nfacct-name localhost_nps_accepted_pkts -j ${chain('EXT')}`,
            );
          rules.nat.push(
            `-A KUBE-NODEPORTS -m comment --comment ${display} ${met} --dport ${frontend.port} -j ${chain('EXT')}`,
          );
        }
        if (!port.isServedOutside)
          rules.filter.push(
            `-A KUBE-EXTERNAL-SERVICES ${comment} -m addrtype --dst-type LOCAL ${met} --dport ${frontend.port} ${verdict}`,
          );
    }
  }
  if (healthCheckNodePort > 0)
    rules.filter.push(
      `-A KUBE-NODEPORTS -m comment --comment "${display} health check node port" -m tcp -p tcp --dport ${healthCheckNodePort} -j ACCEPT`,
    );
  if (!hasAny) return;
  const own = isChanged ? rules : new Rules();
  addChains(own, port, chain, met, isFirewalled);
  if (!isChanged) rules.unchanged.push(...own.chains);
}

function addChains(
  { nat, chains }: Rules,
  port: ServedPort,
  chain: (kind: string) => string,
  met: string,
  isFirewalled: boolean,
): void {
  const { display, protocol, frontends, cluster, local, affinity, localNetwork } = port;
  const endpointChain = (endpoint: ExpectedEndpoint) =>
    `KUBE-SEP-${hashOf(display + protocol + place(endpoint), HASH)}`;
  if (port.isServedInside)
    for (const { kind, address, port: number } of frontends)
      if (kind === 'cluster-ip')
        nat.push(
          `-A ${chain(port.internalPolicyLocal ? 'SVL' : 'SVC')} -m comment --comment "${display} cluster IP" ${met} -d ${address} --dport ${number} ! -s ${localNetwork} -j KUBE-MARK-MASQ`,
        );
  if (port.isExternal) {
    const own = chain('EXT');
    chains.push(own);
    const told = (what: string) =>
      `-A ${own} -m comment --comment "${what} for ${display} external destinations"`;
    if (port.externalPolicyLocal)
      nat.push(
        `${told('pod traffic')} -s ${localNetwork} -j ${chain('SVC')}`,
        `${told('masquerade LOCAL traffic')} -m addrtype --src-type LOCAL -j KUBE-MARK-MASQ`,
        `${told('route LOCAL traffic')} -m addrtype --src-type LOCAL -j ${chain('SVC')}`,
      );
    else nat.push(`${told('masquerade traffic')} -j KUBE-MARK-MASQ`);
    if (port.isServedOutside) nat.push(`-A ${own} -j ${chain(port.externalPolicyLocal ? 'SVL' : 'SVC')}`);
  }
  if (isFirewalled) {
    const own = chain('FW');
    chains.push(own);
    for (const range of port.sourceRanges)
      nat.push(`-A ${own} -m comment --comment "${display} loadbalancer IP" -s ${range} -j ${chain('EXT')}`);
    nat.push(
      `-A ${own} -m comment --comment "other traffic to ${display} will be dropped by KUBE-PROXY-FIREWALL"`,
    );
  }
  for (const [kind, endpoints] of [
    ['SVC', cluster],
    ['SVL', local],
  ] as const) {
    if (endpoints.length === 0) continue;
    const own = chain(kind);
    chains.push(own);
    const told = (endpoint: ExpectedEndpoint) =>
      `-A ${own} -m comment --comment "${display} -> ${place(endpoint)}"`;
    if (affinity > 0)
      for (const endpoint of endpoints)
        nat.push(
          `${told(endpoint)} -m recent --name ${endpointChain(endpoint)} --rcheck --seconds ${affinity} --reap -j ${endpointChain(endpoint)}`,
        );
    endpoints.forEach((endpoint, index) => {
      const left = endpoints.length - index;
      const chance = left > 1 ? `-m statistic --mode random --probability ${(1 / left).toFixed(10)} ` : '';
      nat.push(`${told(endpoint)} ${chance}-j ${endpointChain(endpoint)}`);
    });
  }
  for (const endpoint of port.reachable) {
    const own = endpointChain(endpoint);
    chains.push(own);
    const sticky = affinity > 0 ? `-m recent --name ${own} --set ` : '';
    nat.push(
      `-A ${own} -m comment --comment ${display} -s ${endpoint.address} -j KUBE-MARK-MASQ`,
      `-A ${own} -m comment --comment ${display} ${sticky}${met} -j DNAT --to-destination ${place(endpoint)}`,
    );
  }
}

function has({ frontends }: ServedPort, kind: ExpectedFrontend['kind']): boolean {
  return frontends.some((frontend) => frontend.kind === kind);
}

/** kube-proxy in mode iptables. Most of its syncs are partial ones (docs/internals/spec/iptables.md §11.2). */
export const iptablesMode: KubeProxyMode = {
  begin(machine, families) {
    for (const tables of tablesOf(machine, families)) tables.ensureCanaries();
  },
  syncsPartially: true,
  sync(machine, family, ports, _node, changed) {
    const tables = new IptablesTables(machine, family);
    if (!changed) {
      tables.ensureJumps(IPTABLES_JUMPS);
      for (const counter of COUNTERS) machine.accounting.add(counter);
    }
    tables.restore(iptablesRules(family, ports, tables.chains('nat'), changed));
  },
  isDamaged: (machine, families) => tablesOf(machine, families).some(({ isFlushed }) => isFlushed),
  remove(machine, families) {
    for (const tables of tablesOf(machine, families)) tables.removeAtOnce(IPTABLES_JUMPS, OTHER_CHAINS);
  },
};

function tablesOf(machine: Machine, families: readonly IpFamily[]): readonly IptablesTables[] {
  return families.map((family) => new IptablesTables(machine, family));
}
