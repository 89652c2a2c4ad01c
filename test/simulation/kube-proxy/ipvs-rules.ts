import type { IpFamily } from '../../../src/domain/net/ip-family.js';
import { declared, MARK } from './iptables-rules.js';
import type { IpvsSets, SetName } from './ipvs-sets.js';
import type { ServedPort } from './served-port.js';

const NAT = ['KUBE-SERVICES', 'KUBE-POSTROUTING', 'KUBE-NODE-PORT', 'KUBE-LOAD-BALANCER', 'KUBE-MARK-MASQ'];
const FILTER = [
  'KUBE-FORWARD',
  'KUBE-NODE-PORT',
  'KUBE-PROXY-FIREWALL',
  'KUBE-SOURCE-RANGES-FIREWALL',
  'KUBE-IPVS-FILTER',
  'KUBE-IPVS-OUT-FILTER',
];
/** All of them, with their tables. */
export const IPVS_CHAINS = [
  ...NAT.map((chain) => ['nat', chain] as const),
  ...FILTER.map((chain) => ['filter', chain] as const),
];
const PROTOCOLS = { tcp: 'TCP', udp: 'UDP', sctp: 'SCTP-HASH' } as const;

/** The input of `iptables-restore` in mode ipvs (docs/spec/ipvs.md §6). */
export function ipvsRules(
  family: IpFamily,
  sets: IpvsSets,
  ports: readonly ServedPort[],
  localNetwork: string,
): string {
  return [
    '*nat',
    ...NAT.map(declared),
    ...natRules(family, sets, localNetwork),
    'COMMIT',
    '*filter',
    ...FILTER.map(declared),
    ...filterRules(sets, ports),
    'COMMIT',
    '',
  ].join('\n');
}

const matching = (sets: IpvsSets, name: SetName, of: string) =>
  `-m set --match-set ${sets.get(name).name} ${of}`;
const commented = (sets: IpvsSets, name: SetName, of: string) =>
  `-m comment --comment "${sets.get(name).comment}" ${matching(sets, name, of)}`;

function natRules(family: IpFamily, sets: IpvsSets, localNetwork: string): readonly string[] {
  const isFilled = (name: SetName) => sets.get(name).members.size > 0;
  const ifFilled = (name: SetName, ...rules: readonly string[]) => (isFilled(name) ? rules : []);
  const external = (name: SetName) => {
    const prefix = `-A KUBE-SERVICES ${commented(sets, name, 'dst,dst')}`;
    return [
      `${prefix} -m physdev ! --physdev-is-in -m addrtype ! --src-type LOCAL -j ACCEPT`,
      `${prefix} -m addrtype --dst-type LOCAL -j ACCEPT`,
    ];
  };
  return [
    `-A KUBE-SERVICES -s ${family === 'IPv4' ? '127.0.0.0/8' : '::1/128'} -j RETURN`,
    ...ifFilled(
      'LOOP-BACK',
      `-A KUBE-POSTROUTING ${commented(sets, 'LOOP-BACK', 'dst,dst,src')} -j MASQUERADE`,
    ),
    ...ifFilled(
      'LOAD-BALANCER',
      `-A KUBE-SERVICES ${commented(sets, 'LOAD-BALANCER', 'dst,dst')} -j KUBE-LOAD-BALANCER`,
    ),
    ...ifFilled(
      'LOAD-BALANCER-LOCAL',
      `-A KUBE-LOAD-BALANCER ${commented(sets, 'LOAD-BALANCER-LOCAL', 'dst,dst')} -j RETURN`,
    ),
    ...Object.entries(PROTOCOLS).flatMap(([protocol, name]) => {
      const of = protocol === 'sctp' ? 'dst,dst' : 'dst';
      const prefix = `-A KUBE-NODE-PORT -p ${protocol}`;
      return [
        ...ifFilled(
          `NODE-PORT-LOCAL-${name}`,
          `${prefix} ${commented(sets, `NODE-PORT-LOCAL-${name}`, of)} -j RETURN`,
        ),
        ...ifFilled(
          `NODE-PORT-${name}`,
          `${prefix} ${commented(sets, `NODE-PORT-${name}`, of)} -j KUBE-MARK-MASQ`,
        ),
      ];
    }),
    ...ifFilled(
      'CLUSTER-IP',
      `-A KUBE-SERVICES ${commented(sets, 'CLUSTER-IP', 'dst,dst')} ! -s ${localNetwork} -j KUBE-MARK-MASQ`,
    ),
    ...ifFilled(
      'EXTERNAL-IP',
      `-A KUBE-SERVICES ${commented(sets, 'EXTERNAL-IP', 'dst,dst')} -j KUBE-MARK-MASQ`,
      ...external('EXTERNAL-IP'),
    ),
    ...ifFilled('EXTERNAL-IP-LOCAL', ...external('EXTERNAL-IP-LOCAL')),
    '-A KUBE-SERVICES -m addrtype --dst-type LOCAL -j KUBE-NODE-PORT',
    '-A KUBE-LOAD-BALANCER -j KUBE-MARK-MASQ',
    ...ifFilled('CLUSTER-IP', `-A KUBE-SERVICES ${matching(sets, 'CLUSTER-IP', 'dst,dst')} -j ACCEPT`),
    ...ifFilled('LOAD-BALANCER', `-A KUBE-SERVICES ${matching(sets, 'LOAD-BALANCER', 'dst,dst')} -j ACCEPT`),
    `-A KUBE-POSTROUTING -m mark ! --mark ${MARK}/${MARK} -j RETURN`,
    `-A KUBE-POSTROUTING -j MARK --xor-mark ${MARK}`,
    '-A KUBE-POSTROUTING -m comment --comment "kubernetes service traffic requiring SNAT" -j MASQUERADE --random-fully',
    `-A KUBE-MARK-MASQ -j MARK --or-mark ${MARK}`,
  ];
}

function filterRules(sets: IpvsSets, ports: readonly ServedPort[]): readonly string[] {
  const ifFilled = (name: SetName, ...rules: readonly string[]) =>
    sets.get(name).members.size > 0 ? rules : [];
  // No range of a world's has the node in it.
  const restricted = ports
    .filter(({ sourceRanges }) => sourceRanges.length > 0)
    .flatMap(({ frontends, protocol }) =>
      frontends
        .filter(({ kind }) => kind === 'load-balancer-ip')
        .map(
          ({ address, port }) =>
            `-A KUBE-IPVS-OUT-FILTER -s ${address} -m ipvs --vaddr ${address} --vproto ${protocol} --vport ${port} -j DROP`,
        ),
    );
  return [
    ...ifFilled(
      'LOAD-BALANCER-FW',
      `-A KUBE-PROXY-FIREWALL ${commented(sets, 'LOAD-BALANCER-FW', 'dst,dst')} -j KUBE-SOURCE-RANGES-FIREWALL`,
    ),
    ...(['LOAD-BALANCER-SOURCE-CIDR', 'LOAD-BALANCER-SOURCE-IP'] as const).flatMap((name) =>
      ifFilled(name, `-A KUBE-SOURCE-RANGES-FIREWALL ${commented(sets, name, 'dst,dst,src')} -j RETURN`),
    ),
    '-A KUBE-SOURCE-RANGES-FIREWALL -j DROP',
    ...restricted,
    `-A KUBE-FORWARD -m comment --comment "kubernetes forwarding rules" -m mark --mark ${MARK}/${MARK} -j ACCEPT`,
    '-A KUBE-FORWARD -m comment --comment "kubernetes forwarding conntrack rule" -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT',
    `-A KUBE-NODE-PORT ${commented(sets, 'HEALTH-CHECK-NODE-PORT', 'dst')} -j ACCEPT`,
    ...(['LOAD-BALANCER', 'CLUSTER-IP', 'EXTERNAL-IP', 'EXTERNAL-IP-LOCAL'] as const).map(
      (name) => `-A KUBE-IPVS-FILTER ${matching(sets, name, 'dst,dst')} -j RETURN`,
    ),
    `-A KUBE-IPVS-FILTER ${matching(sets, 'HEALTH-CHECK-NODE-PORT', 'dst')} -j RETURN`,
    `-A KUBE-IPVS-FILTER -m conntrack --ctstate NEW ${matching(sets, 'IPVS-IPS', 'dst')} -j REJECT`,
  ];
}
