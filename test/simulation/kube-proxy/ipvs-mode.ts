import type { IpFamily } from '../../../src/domain/net/ip-family.js';
import type { ExpectedEndpoint, ExpectedFrontend } from '../checks/expected-ports.js';
import { IPPROTO } from '../kernel/conntrack/ctnetlink.js';
import { destinationKey, serverKey, type ServerId } from '../kernel/ipvs/virtual-server.js';
import type { Machine } from '../kernel/machine.js';
import { STRANGER } from '../steps/foreign/deed.js';
import { declared, IPVS_JUMPS, IptablesTables, MASQUERADING } from './iptables-tables.js';
import { MARK, type KubeProxyMode, type ServedPort } from './kube-proxy-mode.js';

const DEVICE = 'kube-ipvs0';
const AF = { IPv4: 2, IPv6: 10 } as const;
const PERSISTENT = 1;
const NETMASK = { IPv4: 0xffff_ffff, IPv6: 128 } as const;
const FULL_LENGTH = { IPv4: 32, IPv6: 128 } as const;
const LONGEST_NAME = 31;

const NAT = ['KUBE-SERVICES', 'KUBE-POSTROUTING', 'KUBE-NODE-PORT', 'KUBE-LOAD-BALANCER', 'KUBE-MARK-MASQ'];
const FILTER = [
  ...['KUBE-FORWARD', 'KUBE-NODE-PORT', 'KUBE-PROXY-FIREWALL', 'KUBE-SOURCE-RANGES-FIREWALL'],
  ...['KUBE-IPVS-FILTER', 'KUBE-IPVS-OUT-FILTER'],
];
const ALL_CHAINS = [
  ...NAT.map((chain) => ['nat', chain] as const),
  ...FILTER.map((chain) => ['filter', chain] as const),
];

/**
 * The sets without `KUBE-`, their types, and the comments of the rules that look into them, in kube-proxy's order
 * (docs/internals/spec/ipvs.md §5).
 */
const SETS = `
LOOP-BACK hash:ip,port,ip Kubernetes endpoints dst ip:port, source ip for solving hairpin purpose
CLUSTER-IP hash:ip,port Kubernetes service cluster ip + port for masquerade purpose
EXTERNAL-IP hash:ip,port Kubernetes service external ip + port for masquerade and filter purpose
EXTERNAL-IP-LOCAL hash:ip,port Kubernetes service external ip + port with externalTrafficPolicy=local
LOAD-BALANCER hash:ip,port Kubernetes service lb portal
LOAD-BALANCER-FW hash:ip,port Kubernetes service load balancer ip + port for load balancer with sourceRange
LOAD-BALANCER-LOCAL hash:ip,port Kubernetes service load balancer ip + port with externalTrafficPolicy=local
LOAD-BALANCER-SOURCE-IP hash:ip,port,ip Kubernetes service load balancer ip + port + source IP for packet filter purpose
LOAD-BALANCER-SOURCE-CIDR hash:ip,port,net Kubernetes service load balancer ip + port + source cidr for packet filter purpose
NODE-PORT-TCP bitmap:port Kubernetes nodeport TCP port for masquerade purpose
NODE-PORT-LOCAL-TCP bitmap:port Kubernetes nodeport TCP port with externalTrafficPolicy=local
NODE-PORT-UDP bitmap:port Kubernetes nodeport UDP port for masquerade purpose
NODE-PORT-LOCAL-UDP bitmap:port Kubernetes nodeport UDP port with externalTrafficPolicy=local
NODE-PORT-SCTP-HASH hash:ip,port Kubernetes nodeport SCTP port for masquerade purpose with type 'hash ip:port'
NODE-PORT-LOCAL-SCTP-HASH hash:ip,port Kubernetes nodeport SCTP port with externalTrafficPolicy=local with type 'hash ip:port'
HEALTH-CHECK-NODE-PORT bitmap:port Kubernetes health check node port
IPVS-IPS hash:ip Addresses on the ipvs interface`;

/** A set of the kernel. */
interface NamedSet {
  readonly name: string;
  /** What `ipset create` is told behind the name. */
  readonly creation: readonly string[];
  readonly comment: string;
  readonly members: Set<string>;
}

type Sets = ReadonlyMap<string, NamedSet>;

/** All sets of a family, still empty. */
function setsOf(family: IpFamily): Sets {
  const [prefix, inet] = family === 'IPv4' ? ['KUBE-', 'inet'] : ['KUBE-6-', 'inet6'];
  return new Map(
    [...SETS.matchAll(/^(\S+) (\S+) (.*)$/gm)].map(([, id = '', type = '', comment = '']) => {
      const options = type === 'bitmap:port' ? 'range 0-65535' : `family ${inet} hashsize 1024 maxelem 65536`;
      const name = `${prefix}${id}`.slice(0, LONGEST_NAME);
      return [id, { name, creation: [type, ...options.split(' ')], comment, members: new Set() }];
    }),
  );
}

/** What one port puts into the sets. @param nodeAddresses those that node ports are served at */
function addPort(sets: Sets, port: ServedPort, nodeAddresses: readonly string[]): void {
  const { protocol, externalPolicyLocal, sourceRanges } = port;
  const put = (name: string, member: string | number) => sets.get(name)!.members.add(String(member));
  const at = ({ address, port: number }: ExpectedFrontend) => `${address},${protocol}:${number}`;
  for (const { address, port: number, local } of port.known)
    if (local) put('LOOP-BACK', `${address},${protocol}:${number},${address}`);
  for (const frontend of port.frontends)
    switch (frontend.kind) {
      case 'cluster-ip':
        put('CLUSTER-IP', at(frontend));
        break;
      case 'external-ip':
        put(externalPolicyLocal ? 'EXTERNAL-IP-LOCAL' : 'EXTERNAL-IP', at(frontend));
        break;
      case 'load-balancer-ip':
        put('LOAD-BALANCER', at(frontend));
        if (externalPolicyLocal) put('LOAD-BALANCER-LOCAL', at(frontend));
        if (sourceRanges.length > 0) put('LOAD-BALANCER-FW', at(frontend));
        for (const range of sourceRanges) put('LOAD-BALANCER-SOURCE-CIDR', `${at(frontend)},${range}`);
        break;
      case 'node-port':
        for (const local of externalPolicyLocal ? ['', 'LOCAL-'] : [''])
          if (protocol !== 'sctp') put(`NODE-PORT-${local}${protocol.toUpperCase()}`, frontend.port);
          else
            for (const address of nodeAddresses)
              put(`NODE-PORT-${local}SCTP-HASH`, at({ ...frontend, address }));
    }
  if (port.healthCheckNodePort > 0) put('HEALTH-CHECK-NODE-PORT', port.healthCheckNodePort);
}

/** The input of `iptables-restore` (docs/internals/spec/ipvs.md §6). */
function rulesOf(family: IpFamily, sets: Sets, ports: readonly ServedPort[], localNetwork: string): string {
  const inSet = (name: string, of = 'dst,dst') => `-m set --match-set ${sets.get(name)!.name} ${of}`;
  const commented = (name: string, of?: string) =>
    `-m comment --comment "${sets.get(name)!.comment}" ${inSet(name, of)}`;
  const ifFilled = (name: string, ...rules: readonly string[]) =>
    sets.get(name)!.members.size > 0 ? rules : [];
  /** A rule for the members of a set, as long as there are any. */
  const ruleFor = (chain: string, name: string, rest: string, of?: string) =>
    ifFilled(name, `-A ${chain} ${commented(name, of)} ${rest}`);
  const nodePort = (protocol: string, name: string, of: string) => [
    ...ruleFor(`KUBE-NODE-PORT -p ${protocol}`, `NODE-PORT-LOCAL-${name}`, '-j RETURN', of),
    ...ruleFor(`KUBE-NODE-PORT -p ${protocol}`, `NODE-PORT-${name}`, '-j KUBE-MARK-MASQ', of),
  ];
  const external = (name: string) => [
    ...ruleFor(
      'KUBE-SERVICES',
      name,
      '-m physdev ! --physdev-is-in -m addrtype ! --src-type LOCAL -j ACCEPT',
    ),
    ...ruleFor('KUBE-SERVICES', name, '-m addrtype --dst-type LOCAL -j ACCEPT'),
  ];
  const accepted = (name: string) => ifFilled(name, `-A KUBE-SERVICES ${inSet(name)} -j ACCEPT`);
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
    '*nat',
    ...NAT.map(declared),
    `-A KUBE-SERVICES -s ${family === 'IPv4' ? '127.0.0.0/8' : '::1/128'} -j RETURN`,
    ...ruleFor('KUBE-POSTROUTING', 'LOOP-BACK', '-j MASQUERADE', 'dst,dst,src'),
    ...ruleFor('KUBE-SERVICES', 'LOAD-BALANCER', '-j KUBE-LOAD-BALANCER'),
    ...ruleFor('KUBE-LOAD-BALANCER', 'LOAD-BALANCER-LOCAL', '-j RETURN'),
    ...nodePort('tcp', 'TCP', 'dst'),
    ...nodePort('udp', 'UDP', 'dst'),
    ...nodePort('sctp', 'SCTP-HASH', 'dst,dst'),
    ...ruleFor('KUBE-SERVICES', 'CLUSTER-IP', `! -s ${localNetwork} -j KUBE-MARK-MASQ`),
    ...ruleFor('KUBE-SERVICES', 'EXTERNAL-IP', '-j KUBE-MARK-MASQ'),
    ...external('EXTERNAL-IP'),
    ...external('EXTERNAL-IP-LOCAL'),
    '-A KUBE-SERVICES -m addrtype --dst-type LOCAL -j KUBE-NODE-PORT',
    '-A KUBE-LOAD-BALANCER -j KUBE-MARK-MASQ',
    ...accepted('CLUSTER-IP'),
    ...accepted('LOAD-BALANCER'),
    ...MASQUERADING,
    'COMMIT',
    '*filter',
    ...FILTER.map(declared),
    ...ruleFor('KUBE-PROXY-FIREWALL', 'LOAD-BALANCER-FW', '-j KUBE-SOURCE-RANGES-FIREWALL'),
    ...['LOAD-BALANCER-SOURCE-CIDR', 'LOAD-BALANCER-SOURCE-IP'].flatMap((name) =>
      ruleFor('KUBE-SOURCE-RANGES-FIREWALL', name, '-j RETURN', 'dst,dst,src'),
    ),
    '-A KUBE-SOURCE-RANGES-FIREWALL -j DROP',
    ...restricted,
    `-A KUBE-FORWARD -m comment --comment "kubernetes forwarding rules" -m mark --mark ${MARK}/${MARK} -j ACCEPT`,
    '-A KUBE-FORWARD -m comment --comment "kubernetes forwarding conntrack rule" -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT',
    `-A KUBE-NODE-PORT ${commented('HEALTH-CHECK-NODE-PORT', 'dst')} -j ACCEPT`,
    ...['LOAD-BALANCER', 'CLUSTER-IP', 'EXTERNAL-IP', 'EXTERNAL-IP-LOCAL'].map(
      (name) => `-A KUBE-IPVS-FILTER ${inSet(name)} -j RETURN`,
    ),
    `-A KUBE-IPVS-FILTER ${inSet('HEALTH-CHECK-NODE-PORT', 'dst')} -j RETURN`,
    `-A KUBE-IPVS-FILTER -m conntrack --ctstate NEW ${inSet('IPVS-IPS', 'dst')} -j REJECT`,
    'COMMIT',
    '',
  ].join('\n');
}

/** kube-proxy in IPVS mode. */
export const ipvsMode: KubeProxyMode = {
  sync(machine, family, ports, { localNetwork }) {
    const { links, programs } = machine;
    const tables = new IptablesTables(machine, family);
    tables.ensureJumps(IPVS_JUMPS);
    links.addLink({ name: DEVICE, kind: 'dummy' }, STRANGER);
    const sets = setsOf(family);
    for (const { name, creation } of sets.values())
      programs.run(['ipset', 'create', name, ...creation, '-exist']);
    const nodeAddresses = nodeAddressesOf(machine, family);
    const isBound = new Set([...links.addresses(DEVICE)].map(({ address }) => address));
    const bound = sets.get('IPVS-IPS')!.members;
    const active = new Set<string>();
    for (const port of ports) {
      addPort(sets, port, nodeAddresses);
      for (const frontend of port.frontends) {
        const addresses = frontend.address === undefined ? nodeAddresses : [frontend.address];
        for (const address of addresses) {
          const id = serverId(family, { ...frontend, address });
          active.add(serverKey(id));
          writeServer(machine, id, port, frontend.kind === 'cluster-ip');
          if (frontend.kind === 'node-port' || nodeAddresses.includes(address)) continue;
          bound.add(address);
          if (!isBound.has(address)) links.addAddress(DEVICE, address, FULL_LENGTH[family], {}, STRANGER);
        }
      }
    }
    for (const { name, members } of sets.values()) {
      const there = programs.sets.get(name)?.members ?? new Set();
      for (const member of [...there]) if (!members.has(member)) programs.run(['ipset', 'del', name, member]);
      for (const member of members)
        if (!there.has(member)) programs.run(['ipset', 'add', name, member, '-exist']);
    }
    tables.restore(rulesOf(family, sets, ports, localNetwork));
    for (const address of isBound)
      if (isOf(family, address) && !bound.has(address))
        links.removeAddress(DEVICE, address, undefined, STRANGER);
    for (const [key, server] of [...machine.servers.view()])
      if (isOf(family, server.address) && !active.has(key)) machine.servers.delete(server, STRANGER);
  },
  isDamaged: () => true,
  remove(machine, families) {
    machine.servers.flush(STRANGER);
    machine.links.removeLink(DEVICE, STRANGER);
    for (const family of families) new IptablesTables(machine, family).removeOneByOne(IPVS_JUMPS, ALL_CHAINS);
    // It forgets those of IPv6.
    for (const { name } of setsOf('IPv4').values()) machine.programs.run(['ipset', 'destroy', name]);
  },
};

function serverId(family: IpFamily, { address, port, protocol }: ExpectedFrontend): ServerId {
  const number = IPPROTO[protocol as keyof typeof IPPROTO];
  return { family: AF[family], protocol: number, address: address!, port };
}

function writeServer({ servers }: Machine, id: ServerId, port: ServedPort, isInside: boolean): void {
  const { family, affinity: timeout } = port;
  const flags = timeout > 0 ? PERSISTENT : 0;
  const settings = { scheduler: 'rr', flags, timeout, netmask: NETMASK[family] };
  const present = servers.find(id);
  if (!present) servers.add(id, settings, STRANGER);
  else if (Object.entries(settings).some(([name, value]) => present[name as 'flags'] !== value))
    servers.set(id, settings, STRANGER);
  const wantsLocal = isInside ? port.internalPolicyLocal : port.externalPolicyLocal;
  const wanted = wantsLocal && port.local.length > 0 ? port.local : port.cluster;
  const destinations = new Map(servers.find(id)!.destinations);
  for (const endpoint of wanted) {
    const destination = destinationOf(family, endpoint);
    const there = destinations.get(destinationKey(endpoint));
    if (!there) servers.addDestination(id, destination, STRANGER);
    else if (there.weight !== 1) servers.setDestination(id, destination, STRANGER);
    destinations.delete(destinationKey(endpoint));
  }
  for (const destination of destinations.values()) servers.deleteDestination(id, destination, STRANGER);
}

function destinationOf(family: IpFamily, { address, port }: ExpectedEndpoint) {
  return { family: AF[family], address, port, forwarding: 0, weight: 1 };
}

/** Those of all devices but the dummy and loopback. */
function nodeAddressesOf({ links }: Machine, family: IpFamily): readonly string[] {
  return [...links.addresses()]
    .filter(({ device }) => device.name !== DEVICE && device.name !== 'lo')
    .map(({ address }) => address)
    .filter((address) => isOf(family, address) && !address.startsWith('fe80:'));
}

function isOf(family: IpFamily, address: string): boolean {
  return address.includes(':') === (family === 'IPv6');
}
