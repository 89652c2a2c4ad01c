import { forwardService } from '../../../src/domain/forwarding/forward-service.js';
import type { NodeNetwork } from '../../../src/domain/forwarding/node-network.js';
import { renderSave } from '../../support/iptables/render-save.js';
import { UnsafeRuleTextError } from '../../../src/domain/iptables/rule-text.js';
import { compileIpvs, type IpvsOptions } from '../../../src/domain/ipvs/compile.js';
import { IpvsDesiredState, ipvsDesiredTables } from '../../../src/domain/ipvs/desired-state.js';
import { serverLines } from '../../../src/domain/ipvs/virtual-server.js';
import type { IpvsPart } from '../../../src/domain/ipvs/service-port-rules.js';
import { setName } from '../../../src/domain/ipvs/service-sets.js';
import type { Endpoint } from '../../../src/domain/model/endpoint.js';
import type { Service } from '../../../src/domain/model/service.js';
import { parseAddress } from '../../../src/domain/net/address.js';
import { parseCidr } from '../../../src/domain/net/cidr.js';
import { endpoint, FORWARDING, service } from '../../support/samples.js';
import { RECORDED_HOST } from '../../support/recorded/cluster.js';
import { allChains } from '../../support/iptables/tables-in-memory.js';

const NODE: NodeNetwork = {
  family: 'IPv4',
  detector: { kind: 'cidr', cidr: parseCidr('10.244.0.0/16')! },
  masqueradeBit: 14,
  masqueradeAll: false,
  nodePortIPs: 'all',
  nodeAddresses: ['192.0.2.11'],
  serviceCIDRs: [],
};
const OPTIONS: IpvsOptions = { node: NODE, scheduler: 'rr', hasScheduler: (name) => name === 'mh' };
const address = (text: string) => parseAddress(text)!;

type Sample = readonly [Partial<Service>, readonly Endpoint[]];

function entriesOf([parts, endpoints]: Sample) {
  return forwardService(service(parts), () => endpoints, {
    family: 'IPv4',
    topology: { nodeName: 'worker-a', zone: '', nodeHints: false },
    nodeIP: '192.0.2.11',
    externalIPsAllowed: true,
  });
}

function desiredStateOf(samples: readonly Sample[], options = OPTIONS): IpvsDesiredState {
  const desired = new IpvsDesiredState();
  for (const entry of samples.flatMap(entriesOf)) desired.replace(entry.key, compileIpvs(entry, options));
  return desired;
}

function tablesOf(samples: readonly Sample[], options = OPTIONS, node = NODE) {
  const { sets, servers, addresses, rules } = ipvsDesiredTables(
    desiredStateOf(samples, options),
    node,
    RECORDED_HOST,
  );
  return {
    servers: serverLines(servers),
    addresses,
    members: Object.fromEntries(
      sets.flatMap(({ name, members }) => (members.size > 0 ? [[name, [...members]]] : [])),
    ),
    chain: (table: string, name: string) =>
      allChains(rules).find((chain) => chain.table === table && chain.name === name)!.rules,
  };
}

const CART: Sample = [
  { name: 'cart', clusterIPs: { IPv4: '10.96.10.1' }, affinitySeconds: 600 },
  [endpoint('10.244.1.4', { isLocal: true }), endpoint('10.244.2.4')],
];
const WEB: Partial<Service> = {
  name: 'web',
  clusterIPs: { IPv4: '10.96.10.2' },
  ports: [{ name: '', protocol: 'TCP', port: 443, nodePort: 31443 }],
  externalPolicyLocal: true,
  healthCheckNodePort: 32111,
  externalIPs: [address('198.18.0.9')],
  loadBalancerIPs: [address('203.0.113.80')],
  sourceRanges: [parseCidr('198.51.100.0/24')!],
};
const WEB_ENDPOINTS = [
  endpoint('10.244.1.9', { isLocal: true, port: 8443 }),
  endpoint('10.244.2.9', { port: 8443 }),
];
const DNS: Sample = [
  {
    namespace: 'infra',
    name: 'dns',
    clusterIPs: { IPv4: '10.96.0.10' },
    ports: [{ name: '', protocol: 'UDP', port: 53, nodePort: 30053 }],
  },
  [endpoint('10.244.2.53', { port: 5353 })],
];

describe('the worked example (docs/internals/spec/ipvs.md §11)', () => {
  const { servers, addresses, members, chain } = tablesOf([CART, [WEB, WEB_ENDPOINTS], DNS]);

  it('has these virtual servers', () => {
    expect(servers).toEqual([
      '-A -u 10.96.0.10:53 -s rr',
      '-a -u 10.96.0.10:53 -r 10.244.2.53:5353 -m -w 1',
      '-A -t 10.96.10.1:80 -s rr -p 600',
      '-a -t 10.96.10.1:80 -r 10.244.1.4:8080 -m -w 1',
      '-a -t 10.96.10.1:80 -r 10.244.2.4:8080 -m -w 1',
      '-A -t 10.96.10.2:443 -s rr',
      '-a -t 10.96.10.2:443 -r 10.244.1.9:8443 -m -w 1',
      '-a -t 10.96.10.2:443 -r 10.244.2.9:8443 -m -w 1',
      '-A -u 192.0.2.11:30053 -s rr',
      '-a -u 192.0.2.11:30053 -r 10.244.2.53:5353 -m -w 1',
      '-A -t 192.0.2.11:31443 -s rr',
      '-a -t 192.0.2.11:31443 -r 10.244.1.9:8443 -m -w 1',
      '-A -t 198.18.0.9:443 -s rr',
      '-a -t 198.18.0.9:443 -r 10.244.1.9:8443 -m -w 1',
      '-A -t 203.0.113.80:443 -s rr',
      '-a -t 203.0.113.80:443 -r 10.244.1.9:8443 -m -w 1',
    ]);
  });

  it('makes connections persist only where the Service has an affinity', () => {
    const { servers: compiled } = ipvsDesiredTables(desiredStateOf([CART, DNS]), NODE, RECORDED_HOST);
    const facts = compiled.map(({ server: { address: at, flags, persistenceSeconds } }) => [
      at,
      flags,
      persistenceSeconds,
    ]);
    expect(facts.filter(([at]) => at !== '192.0.2.11').sort()).toEqual([
      ['10.96.0.10', 0, 0],
      ['10.96.10.1', 1, 600],
    ]);
  });

  it('masquerades packets to node ports of each protocol, unless their policy is Local', () => {
    const protocols = ['TCP', 'UDP', 'SCTP'] as const;
    const samples = protocols.flatMap((protocol, index) =>
      [false, true].map((externalPolicyLocal): Sample => {
        const number = 2 * index + (externalPolicyLocal ? 1 : 0);
        const ports = [{ name: '', protocol, port: 80, nodePort: 30000 + number }];
        const clusterIPs = { IPv4: `10.96.10.${number + 1}` };
        const parts = {
          name: `s${number}`,
          type: 'NodePort',
          clusterIPs,
          ports,
          externalPolicyLocal,
        } as const;
        return [parts, [endpoint('10.244.1.4', { isLocal: true })]];
      }),
    );
    const tables = tablesOf(samples);
    const told = /^-p (\w+) .* --match-set (\S+) (\S+) -j (\S+)$/;
    expect(tables.chain('nat', 'KUBE-NODE-PORT').map((rule) => told.exec(rule)?.slice(1).join(' '))).toEqual([
      'tcp KUBE-NODE-PORT-LOCAL-TCP dst RETURN',
      'tcp KUBE-NODE-PORT-TCP dst KUBE-MARK-MASQ',
      'udp KUBE-NODE-PORT-LOCAL-UDP dst RETURN',
      'udp KUBE-NODE-PORT-UDP dst KUBE-MARK-MASQ',
      'sctp KUBE-NODE-PORT-LOCAL-SCTP-HASH dst,dst RETURN',
      'sctp KUBE-NODE-PORT-SCTP-HASH dst,dst KUBE-MARK-MASQ',
    ]);
    expect(tables.members).toMatchObject({
      'KUBE-NODE-PORT-TCP': ['30000', '30001'],
      'KUBE-NODE-PORT-LOCAL-TCP': ['30001'],
      'KUBE-NODE-PORT-UDP': ['30002', '30003'],
      'KUBE-NODE-PORT-LOCAL-UDP': ['30003'],
      'KUBE-NODE-PORT-SCTP-HASH': ['192.0.2.11,sctp:30004', '192.0.2.11,sctp:30005'],
      'KUBE-NODE-PORT-LOCAL-SCTP-HASH': ['192.0.2.11,sctp:30005'],
    });
  });

  it('has these addresses and members', () => {
    const bound = ['10.96.0.10', '10.96.10.1', '10.96.10.2', '198.18.0.9', '203.0.113.80'];
    expect(addresses).toEqual(bound);
    expect(members).toEqual({
      'KUBE-LOOP-BACK': ['10.244.1.4,tcp:8080,10.244.1.4', '10.244.1.9,tcp:8443,10.244.1.9'],
      'KUBE-CLUSTER-IP': ['10.96.0.10,udp:53', '10.96.10.1,tcp:80', '10.96.10.2,tcp:443'],
      'KUBE-EXTERNAL-IP-LOCAL': ['198.18.0.9,tcp:443'],
      'KUBE-LOAD-BALANCER': ['203.0.113.80,tcp:443'],
      'KUBE-LOAD-BALANCER-LOCAL': ['203.0.113.80,tcp:443'],
      'KUBE-LOAD-BALANCER-FW': ['203.0.113.80,tcp:443'],
      'KUBE-LOAD-BALANCER-SOURCE-CIDR': ['203.0.113.80,tcp:443,198.51.100.0/24'],
      'KUBE-NODE-PORT-TCP': ['31443'],
      'KUBE-NODE-PORT-LOCAL-TCP': ['31443'],
      'KUBE-NODE-PORT-UDP': ['30053'],
      'KUBE-HEALTH-CHECK-NODE-PORT': ['32111'],
      'KUBE-IPVS-IPS': bound,
    });
  });

  it('keeps the node out of a load balancer that it may not use, and lets it in where it may', () => {
    expect(chain('filter', 'KUBE-IPVS-OUT-FILTER')).toEqual([
      '-s 203.0.113.80/32 -m ipvs --vproto 6 --vaddr 203.0.113.80 --vport 443 -j DROP',
    ]);
    expect(chain('filter', 'KUBE-SOURCE-RANGES-FIREWALL')).toHaveLength(2);
    const withNode = { ...WEB, sourceRanges: [...WEB.sourceRanges!, parseCidr('192.0.2.0/24')!] };
    const tables = tablesOf([CART, [withNode, WEB_ENDPOINTS], DNS]);
    expect(tables.chain('filter', 'KUBE-IPVS-OUT-FILTER')).toEqual([]);
    expect(tables.members['KUBE-LOAD-BALANCER-SOURCE-CIDR']).toHaveLength(2);
    expect(tables.members['KUBE-LOAD-BALANCER-SOURCE-IP']).toEqual(['203.0.113.80,tcp:443,203.0.113.80']);
    const firewall = tables.chain('filter', 'KUBE-SOURCE-RANGES-FIREWALL');
    expect(firewall.map((rule) => rule.split(' --match-set ').at(-1))).toEqual([
      'KUBE-LOAD-BALANCER-SOURCE-CIDR dst,dst,src -j RETURN',
      'KUBE-LOAD-BALANCER-SOURCE-IP dst,dst,src -j RETURN',
      '-j DROP',
    ]);
  });
});

describe('cluster IPs', () => {
  const clusterIPRule = (node: NodeNetwork) =>
    tablesOf([CART], OPTIONS, node)
      .chain('nat', 'KUBE-SERVICES')
      .find((rule) => rule.endsWith('-j KUBE-MARK-MASQ'));

  it('are masqueraded by the best that is known of their clients', () => {
    expect(clusterIPRule(NODE)).toMatch(/^! -s 10\.244\.0\.0\/16 .* KUBE-CLUSTER-IP dst,dst -j/);
    expect(clusterIPRule({ ...NODE, masqueradeAll: true })).toMatch(/^-m comment .* dst,dst -j/);
    expect(clusterIPRule({ ...NODE, detector: undefined })).toMatch(/^-m comment .* src,dst -j/);
    const detector = { kind: 'interface', name: 'cali', wildcard: true } as const;
    expect(clusterIPRule({ ...NODE, detector })).toMatch(/^! -i cali\+ -m comment .* dst,dst -j/);
  });
});

describe('node ports', () => {
  const sctp: Sample = [
    { ports: [{ name: '', protocol: 'SCTP', port: 80, nodePort: 30080 }], externalPolicyLocal: true },
    [endpoint('10.244.1.4')],
  ];

  it('of SCTP have members for each address, and rules', () => {
    const node = { ...NODE, nodePortIPs: ['192.0.2.11', '192.0.2.12'] };
    const { members, servers, chain } = tablesOf([sctp], { ...OPTIONS, node });
    const both = ['192.0.2.11,sctp:30080', '192.0.2.12,sctp:30080'];
    expect(members['KUBE-NODE-PORT-SCTP-HASH']).toEqual(both);
    expect(members['KUBE-NODE-PORT-LOCAL-SCTP-HASH']).toEqual(both);
    expect(servers).toContain('-A --sctp-service 192.0.2.12:30080 -s rr');
    expect(chain('nat', 'KUBE-NODE-PORT').map((rule) => rule.split(' --match-set ')[1])).toEqual([
      'KUBE-NODE-PORT-LOCAL-SCTP-HASH dst,dst -j RETURN',
      'KUBE-NODE-PORT-SCTP-HASH dst,dst -j KUBE-MARK-MASQ',
    ]);
  });

  it('without an address to live on leave everything else as it is', () => {
    const { servers, members, chain } = tablesOf([[WEB, WEB_ENDPOINTS]], {
      ...OPTIONS,
      node: { nodePortIPs: [], nodeAddresses: ['192.0.2.11'] },
    });
    expect(members).not.toHaveProperty('KUBE-NODE-PORT-TCP');
    expect(members).not.toHaveProperty('KUBE-NODE-PORT-LOCAL-TCP');
    expect(chain('nat', 'KUBE-NODE-PORT')).toEqual([]);
    expect(servers.filter((line) => line.startsWith('-A'))).toHaveLength(3);
    expect(members['KUBE-HEALTH-CHECK-NODE-PORT']).toEqual(['32111']);
  });
});

describe('external addresses', () => {
  it.each(['192.0.2.11', '127.0.0.1'])('that are the node’s own are served, but not bound: %s', (text) => {
    const own: Sample = [{ ...WEB, externalIPs: [address(text)] }, WEB_ENDPOINTS];
    const { addresses, servers, members } = tablesOf([own]);
    expect(addresses).toEqual(['10.96.10.2', '203.0.113.80']);
    expect(members['KUBE-IPVS-IPS']).toEqual(addresses);
    expect(servers).toContain(`-A -t ${text}:443 -s rr`);
  });

  it('that are external IP and load-balancer IP at once are load-balancer IPs, so that source ranges hold', () => {
    const twice: Sample = [{ ...WEB, externalIPs: [address('203.0.113.80')] }, WEB_ENDPOINTS];
    const { servers, members } = tablesOf([twice]);
    expect(servers.filter((line) => line.startsWith('-A -t 203.0.113.80:443'))).toHaveLength(1);
    expect(members['KUBE-EXTERNAL-IP-LOCAL'] ?? []).toEqual([]);
    expect(members['KUBE-LOAD-BALANCER']).toEqual(['203.0.113.80,tcp:443']);
  });

  it('with no endpoint here fall back to those elsewhere', () => {
    const { servers } = tablesOf([[WEB, [WEB_ENDPOINTS[1]!]]]);
    expect(servers).toContain('-a -t 203.0.113.80:443 -r 10.244.2.9:8443 -m -w 1');
  });
});

describe('source ranges', () => {
  it('of one address are written without their length, as ipset prints them', () => {
    const one: Sample = [{ ...WEB, sourceRanges: [parseCidr('198.51.100.7/32')!] }, WEB_ENDPOINTS];
    expect(tablesOf([one]).members['KUBE-LOAD-BALANCER-SOURCE-CIDR']).toEqual([
      '203.0.113.80,tcp:443,198.51.100.7',
    ]);
  });
});

describe('a scheduler of its own', () => {
  const wanting = (scheduler: string): Sample => [{ ...CART[0], scheduler }, CART[1]];

  it('is taken when the kernel has it; mh hashes the source port, too', () => {
    expect(tablesOf([wanting('mh')]).servers[0]).toBe('-A -t 10.96.10.1:80 -s mh -p 600 -b mh-port');
  });

  it('is the default when the kernel has it not', () => {
    expect(tablesOf([wanting('wonder')]).servers[0]).toBe('-A -t 10.96.10.1:80 -s rr -p 600');
  });
});

describe('endpoints with weights', () => {
  const weighing = (...weights: readonly number[]): Sample => [
    { clusterIPs: { IPv4: '10.96.0.9' }, balancingMethod: 'round-robin' },
    weights.map((weight, index) => endpoint(`10.244.1.${index + 1}`, { weight })),
  ];
  const all = { ...OPTIONS, hasScheduler: () => true };

  it('have them as real servers, with a scheduler that looks at them', () => {
    expect(tablesOf([weighing(3, 1000)], all).servers).toEqual([
      '-A -t 10.96.0.9:80 -s wrr',
      '-a -t 10.96.0.9:80 -r 10.244.1.1:8080 -m -w 3',
      '-a -t 10.96.0.9:80 -r 10.244.1.2:8080 -m -w 1000',
    ]);
  });

  it('of 0 stay as real servers that get no new connections, unless all are', () => {
    expect(tablesOf([weighing(0, 5)], all).servers).toEqual([
      '-A -t 10.96.0.9:80 -s rr',
      '-a -t 10.96.0.9:80 -r 10.244.1.1:8080 -m -w 0',
      '-a -t 10.96.0.9:80 -r 10.244.1.2:8080 -m -w 5',
    ]);
    expect(tablesOf([weighing(0, 0)], all).servers).toEqual([
      '-A -t 10.96.0.9:80 -s rr',
      '-a -t 10.96.0.9:80 -r 10.244.1.1:8080 -m -w 1',
      '-a -t 10.96.0.9:80 -r 10.244.1.2:8080 -m -w 1',
    ]);
  });
});

describe('endpoints of weight 0', () => {
  const here = (weight: number) => ({ isLocal: true, weight });
  const entry = (...endpoints: readonly Endpoint[]): Sample => [
    {
      clusterIPs: { IPv4: '10.96.0.9' },
      externalIPs: [parseAddress('198.18.0.9')!],
      externalPolicyLocal: true,
    },
    endpoints,
  ];
  const realServersAt = (address: string, sample: Sample) =>
    tablesOf([sample]).servers.filter((line) => line.startsWith(`-a -t ${address}:80`));

  it('are real servers of the frontends whose policy could choose them', () => {
    const sample = entry(
      endpoint('10.244.1.1', here(0)),
      endpoint('10.244.1.2', here(2)),
      endpoint('10.244.2.1', { weight: 0 }),
    );
    expect(realServersAt('198.18.0.9', sample)).toEqual([
      '-a -t 198.18.0.9:80 -r 10.244.1.1:8080 -m -w 0',
      '-a -t 198.18.0.9:80 -r 10.244.1.2:8080 -m -w 2',
    ]);
    expect(realServersAt('10.96.0.9', sample)).toEqual([
      '-a -t 10.96.0.9:80 -r 10.244.1.1:8080 -m -w 0',
      '-a -t 10.96.0.9:80 -r 10.244.1.2:8080 -m -w 2',
      '-a -t 10.96.0.9:80 -r 10.244.2.1:8080 -m -w 0',
    ]);
  });

  it('are none where they may not be chosen for another reason', () => {
    const sample = entry(
      endpoint('10.244.1.1', { ...here(0), ready: false, serving: false }),
      endpoint('10.244.1.2', here(2)),
    );
    expect(realServersAt('10.96.0.9', sample)).toEqual(['-a -t 10.96.0.9:80 -r 10.244.1.2:8080 -m -w 2']);
  });

  it('let sh choose another one for their clients', () => {
    const options = { ...OPTIONS, scheduler: 'sh' };
    const kept = entry(endpoint('10.244.1.1', here(0)), endpoint('10.244.1.2'));
    const [server] = tablesOf([kept], options).servers;
    expect(server).toBe('-A -t 10.96.0.9:80 -s sh -b sh-fallback');
    const [without] = tablesOf([entry(endpoint('10.244.1.1'))], options).servers;
    expect(without).toBe('-A -t 10.96.0.9:80 -s sh');
  });
});

describe('endpoints that are ejected', () => {
  /** With the second of these endpoints ejected. */
  const realServers = (weight?: number) => {
    const endpoints = [1, 2].map((last) =>
      endpoint(`10.244.1.${last}`, weight === undefined ? {} : { weight }),
    );
    const [entry] = forwardService(
      service({ ejectUnresponsiveEndpoints: true }),
      () => endpoints,
      FORWARDING,
      { ejected: () => new Set(['10.244.1.2:8080']) },
    );
    const [{ served }] = compileIpvs(entry!, OPTIONS) as [IpvsPart];
    return serverLines([served!]).slice(1);
  };
  const expected = [
    '-a -t 10.96.7.1:80 -r 10.244.1.1:8080 -m -w 1',
    '-a -t 10.96.7.1:80 -r 10.244.1.2:8080 -m -w 0',
  ];

  it('keep their connections as real servers of weight 0', () => {
    expect(realServers()).toEqual(expected);
  });

  it('leave others of weight 0 with weight 1, where all have weight 0', () => {
    expect(realServers(0)).toEqual(expected);
  });
});

describe('a frontend that two services claim', () => {
  const claim = (name: string, parts: Partial<Service> = {}): Sample => [
    {
      name,
      clusterIPs: { IPv4: `10.96.0.${name.charCodeAt(0)}` },
      externalIPs: [address('198.18.0.9')],
      ...parts,
    },
    [endpoint('10.244.1.4')],
  ];

  it('belongs to the first by name, with all that comes with it', () => {
    const desired = desiredStateOf([claim('b', { externalPolicyLocal: true }), claim('a')]);
    const [frontend, holder, loser] = ['198.18.0.9:80/TCP', 'shop/a/tcp/', 'shop/b/tcp/'];
    expect(desired.server(frontend)!.owner).toBe(holder);
    expect(desired.members().filter((one) => one.startsWith('KUBE-EXTERNAL-IP '))).toEqual([
      'KUBE-EXTERNAL-IP 198.18.0.9,tcp:80',
    ]);
    expect(desired.members().filter((one) => one.startsWith('KUBE-EXTERNAL-IP-LOCAL '))).toEqual([]);
    desired.replace(holder, undefined);
    expect(desired.server(frontend)!.owner).toBe(loser);
    expect(desired.members().filter((one) => one.startsWith('KUBE-EXTERNAL-IP '))).toEqual([]);
    expect(desired.members().filter((one) => one.startsWith('KUBE-EXTERNAL-IP-LOCAL '))).toEqual([
      'KUBE-EXTERNAL-IP-LOCAL 198.18.0.9,tcp:80',
    ]);
    desired.replace(loser, undefined);
    expect([...desired.addresses()]).toEqual([]);
  });
});

it.each([
  ['port', { frontends: [{ ...entriesOf(CART)[0]!.frontends[0]!, port: 65_536 }] }],
  ['address', { frontends: [{ ...entriesOf(CART)[0]!.frontends[0]!, address: 'x' }] }],
  ['health check node port', { healthCheckNodePort: -1 }],
])('what is no %s cannot get into a rule', (what, parts) => {
  const compile = () => compileIpvs({ ...entriesOf(CART)[0]!, ...parts }, OPTIONS);
  expect(compile).toThrow(UnsafeRuleTextError);
  expect(compile).toThrow(new RegExp(`^${what} "`));
});

describe('the names of sets', () => {
  it('are cut off at what the kernel takes in IPv6', () => {
    expect(setName('KUBE-LOAD-BALANCER-SOURCE-CIDR', 'IPv6')).toBe('KUBE-6-LOAD-BALANCER-SOURCE-CID');
    expect(setName('KUBE-NODE-PORT-LOCAL-SCTP-HASH', 'IPv6')).toBe('KUBE-6-NODE-PORT-LOCAL-SCTP-HAS');
    expect(setName('KUBE-LOOP-BACK', 'IPv4')).toBe('KUBE-LOOP-BACK');
  });
});

it('without services only what stands always is there', () => {
  const { rules } = ipvsDesiredTables(new IpvsDesiredState(), NODE, RECORDED_HOST);
  const tables = (['nat', 'filter'] as const).map((name) => ({
    name,
    chains: allChains(rules)
      .filter(({ table }) => table === name)
      .map((chain) => ({ name: chain.name, policy: undefined, rules: chain.rules })),
  }));
  const text = renderSave(tables);
  expect(text.match(/--match-set \S+/g)).toHaveLength(7);
  expect(text).not.toMatch(/KUBE-LOOP-BACK|KUBE-NODE-PORT-TCP/);
});
