import fc from 'fast-check';
import type { ForwardingEntry, Frontend } from '../../../src/domain/forwarding/forwarding-entry.js';
import type { NodeNetwork } from '../../../src/domain/forwarding/node-network.js';
import { canonicalRule } from '../../../src/domain/iptables/saved-tables.js';
import { chainsChange } from '../../../src/domain/iptables/iptables-change.js';
import {
  ClusterSize,
  isLargeCluster,
  compilesAlike,
  masqueradeMark,
  type IptablesOptions,
} from '../../../src/domain/iptables/options.js';
import { compileIptables } from '../../../src/domain/iptables/compile.js';
import { iptablesBaseRules } from '../../../src/domain/iptables/base-rules.js';
import type { Chain, IptablesServicePortRules } from '../../../src/domain/iptables/table.js';
import { UnsafeRuleTextError } from '../../../src/domain/iptables/rule-text.js';
import type { Endpoint } from '../../../src/domain/model/endpoint.js';
import { parseCidr } from '../../../src/domain/net/cidr.js';
import { serviceEntries } from '../../support/iptables/arbitraries.js';
import { RECORDED_HOST } from '../../support/recorded/cluster.js';
import { anyText } from '../../support/any-text.js';

const NO_COUNTERS = { ...RECORDED_HOST, counters: new Set<never>() };
const node: NodeNetwork = {
  family: 'IPv4',
  detector: { kind: 'cidr', cidr: parseCidr('10.244.0.0/16')! },
  masqueradeBit: 14,
  masqueradeAll: false,
  nodePortIPs: 'all',
  localhostNodePorts: true,
  serviceCIDRs: [],
};
const options: IptablesOptions = { node, host: RECORDED_HOST, largeCluster: false };

const endpointAt = (address: string): Endpoint => ({
  address,
  port: 8080,
  isLocal: false,
  ready: true,
  serving: true,
  terminating: false,
  zoneHints: [],
  nodeHints: [],
});

const endpoints = [endpointAt('10.244.1.4'), endpointAt('10.244.2.4')];
const clusterIP: Frontend = {
  kind: 'cluster-ip',
  address: '10.96.10.1',
  port: 80,
  policy: 'Cluster',
  outcome: 'forward',
};
const cart: ForwardingEntry = {
  key: 'shop/cart/tcp/http',
  name: { namespace: 'shop', name: 'cart', port: 'http', protocol: 'TCP' },
  family: 'IPv4',
  frontends: [clusterIP],
  endpoints: { cluster: endpoints, local: undefined, reachable: endpoints, hasAny: true },
  internalPolicyLocal: false,
  externalPolicyLocal: false,
  affinitySeconds: 0,
  sourceRanges: [],
  sourceRangesCoverNode: false,
  healthCheckNodePort: 0,
  externallyReachable: false,
  flowEligibleEndpoints: [],
  localEndpoints: [],
  knownEndpoints: 2,
};

const contentsOf = ({ table, name, rules }: Chain) => ({ table, name, rules });

const rulesOf = ({ chains, entries }: IptablesServicePortRules): string[] => [
  ...chains.flatMap(({ name, rules }) => rules.map((rule) => `${name} ${rule}`)),
  ...entries.map(({ chain, rule }) => `${chain} ${rule}`),
];

describe('endpoints with weights', () => {
  const weighing = (...weights: readonly number[]): ForwardingEntry => {
    const list = weights.map((weight, index) => ({ ...endpointAt(`10.244.1.${index + 1}`), weight }));
    return { ...cart, endpoints: { cluster: list, local: undefined, reachable: list, hasAny: true } };
  };
  const chances = (entry: ForwardingEntry) =>
    rulesOf(compileIptables(entry, options)).flatMap((rule) => /--probability (\S+)/.exec(rule)?.[1] ?? []);

  it('get of what is left the part that is theirs', () => {
    expect(chances(weighing(1, 2, 5))).toEqual(['0.12500000000', '0.28571428591']);
    expect(chances(weighing(7, 7))).toEqual(['0.50000000000']);
    expect(chances(weighing(0, 0))).toEqual(['0.50000000000']);
  });

  it('are chosen by other rules when a weight changes', () => {
    const [before, after] = [weighing(1, 2), weighing(1, 3)].map((entry) => compileIptables(entry, options));
    const { written } = chainsChange(before!.chains, after!.chains);
    expect(written.flatMap(({ rules }) => rules).join()).toContain('--probability 0.25000000000');
  });
});

describe('large clusters', () => {
  it('leave out the comments of endpoints, and no others', () => {
    const large = compileIptables(cart, { ...options, largeCluster: true });
    const hash = 'I5LIAMPLWKMBJ54B';
    expect(rulesOf(large)).toEqual([
      `KUBE-SVC-${hash} ! -s 10.244.0.0/16 -d 10.96.10.1/32 -p tcp -m comment --comment "shop/cart:http cluster IP" -m tcp --dport 80 -j KUBE-MARK-MASQ`,
      `KUBE-SVC-${hash} -m statistic --mode random --probability 0.50000000000 -j KUBE-SEP-QIABXAZDHTK5SBKA`,
      `KUBE-SVC-${hash} -j KUBE-SEP-KPWF4XQU3K23SIOB`,
      'KUBE-SEP-QIABXAZDHTK5SBKA -s 10.244.1.4/32 -j KUBE-MARK-MASQ',
      'KUBE-SEP-QIABXAZDHTK5SBKA -p tcp -m tcp -j DNAT --to-destination 10.244.1.4:8080',
      'KUBE-SEP-KPWF4XQU3K23SIOB -s 10.244.2.4/32 -j KUBE-MARK-MASQ',
      'KUBE-SEP-KPWF4XQU3K23SIOB -p tcp -m tcp -j DNAT --to-destination 10.244.2.4:8080',
      `KUBE-SERVICES -d 10.96.10.1/32 -p tcp -m comment --comment "shop/cart:http cluster IP" -m tcp --dport 80 -j KUBE-SVC-${hash}`,
    ]);
  });

  it('have more than 1000 endpoints, counted for each service port', () => {
    const size = new ClusterSize();
    size.note('a', { ...cart, knownEndpoints: 600 });
    size.note('b', { ...cart, knownEndpoints: 400 });
    expect(size.isLarge).toBe(false);
    size.note('b', { ...cart, knownEndpoints: 401 });
    expect(size.isLarge).toBe(true);
    size.note('a', undefined);
    size.note('a', undefined);
    expect(size.isLarge).toBe(false);
    size.note('b', { ...cart, knownEndpoints: 1001 });
    expect(size.isLarge).toBe(true);
    const [one, other] = [600, 401].map((knownEndpoints, at) => ({ ...cart, key: `${at}`, knownEndpoints }));
    expect([isLargeCluster([one!]), isLargeCluster([one!, other!])]).toEqual([false, true]);
  });
});

describe('service ports', () => {
  it('of SCTP over IPv6 that have no endpoints here, and none at all', () => {
    const entry: ForwardingEntry = {
      ...cart,
      name: { namespace: 'edge', name: 'relay', port: 'sig', protocol: 'SCTP' },
      family: 'IPv6',
      frontends: [
        { kind: 'cluster-ip', address: 'fd00:10:96::77', port: 5000, policy: 'Local', outcome: 'drop' },
        { kind: 'node-port', port: 30500, policy: 'Local', outcome: 'drop' },
      ],
      endpoints: {
        cluster: [endpointAt('fd00:244:2::77')],
        local: [],
        reachable: [endpointAt('fd00:244:2::77')],
        hasAny: true,
      },
      internalPolicyLocal: true,
      externalPolicyLocal: true,
      externallyReachable: true,
    };
    const ipv6 = { ...options, node: { ...node, detector: undefined, localhostNodePorts: false } };
    const hash = 'BKQZXKSUE7YOWM5K';
    expect(rulesOf(compileIptables(entry, ipv6))).toEqual([
      `KUBE-EXT-${hash} -m comment --comment "masquerade LOCAL traffic for edge/relay:sig external destinations" -m addrtype --src-type LOCAL -j KUBE-MARK-MASQ`,
      `KUBE-EXT-${hash} -m comment --comment "route LOCAL traffic for edge/relay:sig external destinations" -m addrtype --src-type LOCAL -j KUBE-SVC-${hash}`,
      `KUBE-SVC-${hash} -m comment --comment "edge/relay:sig -> [fd00:244:2::77]:8080" -j ${sepOf(entry, ipv6)}`,
      `${sepOf(entry, ipv6)} -s fd00:244:2::77/128 -m comment --comment "edge/relay:sig" -j KUBE-MARK-MASQ`,
      `${sepOf(entry, ipv6)} -p sctp -m comment --comment "edge/relay:sig" -m sctp -j DNAT --to-destination [fd00:244:2::77]:8080`,
      'KUBE-SERVICES -d fd00:10:96::77/128 -p sctp -m comment --comment "edge/relay:sig has no local endpoints" -m sctp --dport 5000 -j DROP',
      `KUBE-NODEPORTS -p sctp -m comment --comment "edge/relay:sig" -m sctp --dport 30500 -j KUBE-EXT-${hash}`,
      'KUBE-EXTERNAL-SERVICES -p sctp -m comment --comment "edge/relay:sig has no local endpoints" -m addrtype --dst-type LOCAL -m sctp --dport 30500 -j DROP',
    ]);
    const none = { ...entry, endpoints: { cluster: [], local: [], reachable: [], hasAny: false } };
    const bare = compileIptables(none, ipv6);
    expect(bare.chains).toEqual([]);
    expect(bare.entries.map(({ rule }) => rule.split(' -j ')[1])).toEqual([
      'REJECT --reject-with icmp6-port-unreachable',
      'REJECT --reject-with icmp6-port-unreachable',
    ]);
  });

  it('have a door although the feature gate keeps their only external IP closed', () => {
    const gated = compileIptables({ ...cart, externallyReachable: true }, options);
    expect(gated.chains[0]!.name).toBe('KUBE-EXT-I5LIAMPLWKMBJ54B');
    expect(gated.entries).toHaveLength(1);
  });

  it('let the load-balancer IPs in where a source range covers the node', () => {
    const chains = compileIptables(
      {
        ...cart,
        frontends: [clusterIP, { ...clusterIP, kind: 'load-balancer-ip', address: '203.0.113.80' }],
        sourceRanges: [parseCidr('192.0.2.0/24')!],
        sourceRangesCoverNode: true,
        externallyReachable: true,
      },
      options,
    ).chains;
    expect(chains[1]!.rules).toEqual([
      '-s 192.0.2.0/24 -m comment --comment "shop/cart:http loadbalancer IP" -j KUBE-EXT-I5LIAMPLWKMBJ54B',
      '-s 203.0.113.80/32 -m comment --comment "shop/cart:http loadbalancer IP" -j KUBE-EXT-I5LIAMPLWKMBJ54B',
      '-m comment --comment "other traffic to shop/cart:http will be dropped by KUBE-PROXY-FIREWALL"',
    ]);
  });

  function sepOf(entry: ForwardingEntry, from: IptablesOptions): string {
    return compileIptables(entry, from).chains.find(({ name }) => name.startsWith('KUBE-SEP-'))!.name;
  }
});

describe('a service port that changes', () => {
  const from = fc.record({
    node: fc
      .record({ localhostNodePorts: fc.boolean(), masqueradeAll: fc.boolean() })
      .map((changed) => ({ ...node, ...changed })),
    host: fc.constantFrom(RECORDED_HOST, NO_COUNTERS),
    largeCluster: fc.boolean(),
  });
  const state = fc.tuple(serviceEntries('IPv4', 'web'), from);

  it('has the changes that all its rules tell, whatever it was before', () => {
    const isSame = fc.boolean();
    const kinds = { written: 0, removed: 0, untouched: 0 };
    fc.assert(
      fc.property(state, state, isSame, ([former, formerly], [others, now], hasSameEntries) => {
        const entries = hasSameEntries ? former : others;
        for (const entry of entries) {
          const same = former.find(({ key }) => key === entry.key);
          const before = same && compileIptables(same, formerly);
          const after = compileIptables(entry, now);
          if (!before) continue;
          const change = chainsChange(before.chains, after.chains);
          const compared = chainsChange(before.chains.map(contentsOf), after.chains.map(contentsOf));
          expect(change.written.map(contentsOf)).toEqual(compared.written.map(contentsOf));
          expect(change.removed.map(contentsOf)).toEqual(compared.removed.map(contentsOf));
          kinds.written += change.written.length;
          kinds.removed += change.removed.length;
          kinds.untouched += after.chains.length - change.written.length;
        }
      }),
      { numRuns: 80 },
    );
    expect(Object.values(kinds)).not.toContain(0);
  });

  it('has all its chains written after rules of another compiler, but for those that are the same', () => {
    const { chains } = compileIptables(cart, options);
    expect(chainsChange([], chains).written).toHaveLength(chains.length);
    expect(chainsChange(chains.map(contentsOf), chains)).toEqual({ written: [], removed: [] });
  });
});

describe('hostile entries', () => {
  const texts = anyText(300);

  it('name nothing that leaves its quotes', () => {
    fc.assert(
      fc.property(texts, texts, texts, (namespace, name, port) => {
        const entry = { ...cart, name: { ...cart.name, namespace, name, port } };
        let rules: string[];
        try {
          rules = rulesOf(compileIptables(entry, options));
        } catch (error) {
          expect(error).toBeInstanceOf(UnsafeRuleTextError);
          return;
        }
        for (const rule of rules) {
          // What is left without the quoted comment is what every service port has.
          const bare = rule.replace(/"(?:[^"\\]|\\.)*"/, '');
          // eslint-disable-next-line no-control-regex
          expect(rule).not.toMatch(/[\u0000-\u001f\u007f]/);
          expect(bare).toMatch(/^[-\w./:! ]+$/);
          const [, inner] = /"((?:[^"\\]|\\.)*)"/.exec(rule) ?? ['', ''];
          expect(new TextEncoder().encode(inner!.replace(/\\(.)/gu, '$1')).length).toBeLessThanOrEqual(255);
          expect(canonicalRule(rule, 'IPv4')).toBe(rule);
        }
      }),
      { numRuns: 80 },
    );
  });

  it.each<[string, Partial<ForwardingEntry>]>([
    ['address', { frontends: [{ ...clusterIP, address: '10.0.0.1 -j ACCEPT' }] }],
    ['port', { frontends: [{ ...clusterIP, port: 80.5 }] }],
    ['port', { frontends: [{ ...clusterIP, port: 65536 }] }],
    ['port', { frontends: [{ ...clusterIP, port: '80 -j ACCEPT' as never }] }],
    ['protocol', { name: { ...cart.name, protocol: 'TCP -j ACCEPT' as never } }],
    ['comment', { name: { ...cart.name, name: 'cart"\n-A INPUT -j ACCEPT' } }],
    ['health check node port', { healthCheckNodePort: -1 }],
    ['seconds of session affinity', { affinitySeconds: 0.5 }],
    ['address', { endpoints: { ...cart.endpoints, reachable: [endpointAt('10.0.0.1\n')] } }],
    ['address', { sourceRanges: [{ family: 'IPv4', address: '10.0.0.0/8 -j ACCEPT #', prefixLength: 8 }] }],
  ])('are refused for their %s', (what, part) => {
    const compile = () => compileIptables({ ...cart, ...part }, options);
    expect(compile).toThrow(UnsafeRuleTextError);
    expect(compile).toThrow(what);
  });

  it('are quoted, as far as they say something', () => {
    const address = `a"${'b'.repeat(300)}`;
    const compile = () => compileIptables({ ...cart, frontends: [{ ...clusterIP, address }] }, options);
    expect(compile).toThrow(`address "a\\"${'b'.repeat(198)}…" cannot be written to iptables`);
  });

  it('cannot hide in the name of an interface', () => {
    const detector = { kind: 'interface', name: 'a" -j ACCEPT', wildcard: false } as const;
    expect(() => compileIptables(cart, { ...options, node: { ...node, detector } })).toThrow(
      'interface name',
    );
  });
});

it('remember clients with the shortest affinity that a Service can ask for', () => {
  const remembers = (affinitySeconds: number) =>
    rulesOf(compileIptables({ ...cart, affinitySeconds }, options)).filter((rule) =>
      rule.includes('-m recent --set '),
    ).length;
  expect([0, 1].map(remembers)).toEqual([0, endpoints.length]);
});

describe('iptablesBaseRules', () => {
  const rulesIn = (frame: ReturnType<typeof iptablesBaseRules>, chain: string) =>
    frame.chains.find(({ name }) => name === chain)?.rules;

  it('goes by what the host has', () => {
    const plain = iptablesBaseRules(node, { ...NO_COUNTERS, randomFully: false });
    expect(rulesIn(plain, 'KUBE-FORWARD')![0]).toBe('-m conntrack --ctstate INVALID -j DROP');
    expect(rulesIn(plain, 'KUBE-POSTROUTING')!.at(-1)).toBe(
      '-m comment --comment "kubernetes service traffic requiring SNAT" -j MASQUERADE',
    );
    const liberal = iptablesBaseRules(node, { ...RECORDED_HOST, tcpLiberal: true });
    expect(rulesIn(liberal, 'KUBE-FORWARD')).toHaveLength(2);
  });

  it('leaves KUBE-FIREWALL to the kubelet without localhost node ports, and in IPv6', () => {
    for (const other of [
      { ...node, localhostNodePorts: false },
      { ...node, family: 'IPv6' as const },
    ]) {
      const frame = iptablesBaseRules(other, RECORDED_HOST);
      expect(rulesIn(frame, 'KUBE-FIREWALL')).toBeUndefined();
      expect(frame.unmanagedChains).toEqual([{ table: 'filter', name: 'KUBE-FIREWALL' }]);
    }
    const own = iptablesBaseRules({ ...node, localhostNodePorts: true }, RECORDED_HOST);
    expect([rulesIn(own, 'KUBE-FIREWALL')?.length, own.unmanagedChains]).toEqual([1, []]);
  });

  it('dispatches to node ports for each address, loopback among them', () => {
    const frame = iptablesBaseRules({ ...node, nodePortIPs: ['10.0.0.1', '127.0.0.1'] }, RECORDED_HOST);
    const { after } = frame.shared.find(({ table, name }) => table === 'nat' && name === 'KUBE-SERVICES')!;
    expect(after.map((rule) => rule.split(' ', 2).join(' '))).toEqual(['-d 10.0.0.1/32', '-d 127.0.0.1/32']);
  });

  it('prints any bit as a mark', () => {
    expect([0, 14, 31].map(masqueradeMark)).toEqual(['0x1', '0x4000', '0x80000000']);
  });
});

describe('compilesAlike', () => {
  it.each<[boolean, Partial<NodeNetwork>]>([
    [true, {}],
    [true, { masqueradeBit: 10, nodePortIPs: ['10.0.0.1'], serviceCIDRs: ['10.0.0.0/8'] }],
    [false, { masqueradeAll: true }],
    [false, { localhostNodePorts: false }],
    [false, { detector: undefined }],
    [false, { detector: { kind: 'interface', name: 'cni0', wildcard: false } }],
  ])('is %s for %j', (alike, part) => {
    expect(compilesAlike(node, { ...node, ...part })).toBe(alike);
  });
});
