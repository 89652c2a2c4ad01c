import { rejectedProtocols, type NodeNetwork } from '../../../../src/domain/forwarding/node-network.js';
import { IP_FAMILIES } from '../../../../src/domain/net/ip-family.js';
import { compileNftables } from '../../../../src/domain/nftables/compile.js';
import type { KernelChain } from '../../../../src/domain/nftables/kernel/ruleset.js';
import {
  BY_ADDRESS,
  CLUSTER_IPS,
  HAIRPIN_CONNECTIONS,
  NODEPORT_IPS,
} from '../../../../src/domain/nftables/layout/sets.js';
import { nodeChains } from '../../../../src/domain/nftables/layout/node-rules.js';
import { classRules } from '../../../../src/domain/nftables/layout/traffic-class.js';
import { NftablesDesiredState } from '../../../../src/domain/nftables/state/desired-state.js';
import { desiredTable } from '../../../../src/domain/nftables/state/desired-table.js';
import type { Packet } from '../../../../src/diagnostics/domain/trace/trace.js';
import {
  sampleEntry,
  sampleNode,
  type SampleShape,
} from '../../../../src/testing/contract/sample-services.js';
import { contentsOf } from '../../../support/nftables/table-contents.js';
import { walkTable, WalkedTable } from '../../../support/nftables/walked-table.js';

const OURS = { sourceLengths: [], keepsKubeProxyRules: false };

it('has the hooks of kube-proxy (docs/internals/spec/nftables.md §3.2)', () => {
  const hooks = nodeChains(sampleNode('IPv4'), OURS).flatMap(({ chain: { name, hook } }) =>
    hook ? [`${name}: ${hook.type} ${hook.hook} ${hook.priority}`] : [],
  );
  expect(hooks).toEqual([
    'filter-prerouting-pre-dnat: filter prerouting -110',
    'filter-output-pre-dnat: filter output -110',
    'filter-input: filter input 0',
    'filter-forward: filter forward 0',
    'filter-output: filter output 0',
    'nat-prerouting: nat prerouting -100',
    'nat-output: nat output -100',
    'nat-postrouting: nat postrouting 100',
  ]);
});

it('says what rules and sets are for in the words of kube-proxy (docs/internals/spec/nftables.md §3.3, §5)', () => {
  const node = sampleNode('IPv4', { serviceCIDRs: ['10.96.0.0/16'] });
  const all = sampleNode('IPv4', { masqueradeAll: true });
  const external = { variant: BY_ADDRESS, kind: 'external', count: 2, affinitySeconds: 0 } as const;
  const local = { ...external, kind: 'external-local' } as const;
  const rules = [
    ...[...nodeChains(node, OURS), ...nodeChains(all, OURS)].flatMap((chain) => chain.rules),
    ...[external, local].flatMap((each) => classRules(each, node)),
  ];
  expect(rules.flatMap(({ comment }) => comment ?? [])).toEqual([
    'masquerade clusterIP traffic from outside cluster',
    'Reject traffic to invalid ports of ClusterIPs',
    'Drop traffic to unallocated ClusterIPs',
    'masquerade all clusterIP traffic',
    'Reject traffic to invalid ports of ClusterIPs',
    'masquerade',
    'short-circuit pod traffic',
    'masquerade local traffic',
    'short-circuit local traffic',
  ]);
  expect(
    [CLUSTER_IPS, NODEPORT_IPS, HAIRPIN_CONNECTIONS].map(({ name, comment }) => [name, comment]),
  ).toEqual([
    ['cluster-ips', 'Active ClusterIPs'],
    ['nodeport-ips', 'IPs that accept NodePort traffic'],
    ['hairpin-connections', 'service hairpin connections'],
  ]);
});

it('leaves the priority alone that another program gave a packet to no Service', () => {
  const node = sampleNode('IPv4');
  const ours = new WalkedTable('IPv4', contentsOf(desiredTable(new NftablesDesiredState(), node)));
  const prioritize: KernelChain = {
    ...{ name: 'prioritize', number: 99 },
    hook: { type: 'filter', hook: 'forward', priority: 0, policy: 'accept' },
    rules: [
      {
        expressions: [
          { kind: 'immediate', to: 0, value: Buffer.from([1, 0, 0, 0x80]) },
          { kind: 'meta-set', from: 0, key: 'priority' },
        ],
      },
    ],
  };
  const table = { ...ours.table, chains: new Map([...ours.table.chains, ['prioritize', prioritize]]) };
  const packet: Packet = {
    ...{ family: 'IPv4', protocol: 'TCP', inputInterface: 'eth0' },
    ...{ source: '203.0.113.5', destination: '203.0.113.77', destinationPort: 80 },
  };
  const endings = walkTable(table, () => undefined, packet, { localAddresses: new Set() });
  // It is dropped by the receiver, which takes no packet with a priority.
  expect(endings.map(({ verdict }) => verdict)).toEqual(['drop']);
});

it('masquerades what a pod sends to itself through a Service, and nothing else of it', () => {
  const desired = new NftablesDesiredState();
  const entry = sampleEntry('IPv4', 'web', { number: 1 });
  desired.replace(entry.key, compileNftables(entry));
  const table = new WalkedTable('IPv4', contentsOf(desiredTable(desired, sampleNode('IPv4'))));
  const masqueraded = (destination: string, destinationPort: number) => {
    const packet: Packet = {
      ...{ family: 'IPv4', protocol: 'TCP', inputInterface: 'veth1', source: '10.244.1.1' },
      ...{ destination, destinationPort },
    };
    const endings = table.walk(packet, { localAddresses: new Set() });
    return endings.map(({ endpoint, masquerade }) => [endpoint?.address, masquerade]);
  };
  expect(new Map(masqueraded('10.96.77.1', 80) as [string, boolean][])).toEqual(
    new Map([
      ['10.244.1.1', true],
      ['10.244.1.2', false],
      ['10.244.1.3', false],
    ]),
  );
  expect(masqueraded('10.244.1.1', 8080)).toEqual([[undefined, false]]);
});

describe.each(IP_FAMILIES)('a node port, %s', (family) => {
  const [one, other, loopback, elsewhere] =
    family === 'IPv4'
      ? ['192.0.2.1', '192.0.2.2', '127.0.0.1', '203.0.113.77']
      : ['2001:db8:2::1', '2001:db8:2::2', '::1', '2001:db8:e::77'];
  const local = { nodePort: 30_080, number: 1, externalPolicyLocal: true };

  function verdict(
    parts: Pick<NodeNetwork, 'nodePortIPs' | 'loopbackNodePorts'>,
    shape: SampleShape,
    destination: string,
  ): string {
    const desired = new NftablesDesiredState();
    const entry = sampleEntry(family, 'web', shape);
    const node = sampleNode(family, parts);
    desired.replace(entry.key, compileNftables(entry, [], rejectedProtocols(node)));
    const table = new WalkedTable(family, contentsOf(desiredTable(desired, node)));
    const packet: Packet = {
      ...{ family, protocol: shape.protocol ?? 'TCP', destination, destinationPort: 30_080 },
      ...(destination === loopback
        ? { source: loopback, inputInterface: undefined }
        : { source: elsewhere, inputInterface: 'eth0' }),
    };
    const endings = table.walk(packet, { localAddresses: new Set([one, other, loopback]) });
    return [...new Set(endings.map((ending) => ending.verdict))].join();
  }

  it.each<[string, SampleShape, string]>([
    ['with endpoints', { nodePort: 30_080, number: 1 }, 'forward'],
    ['without endpoints', { nodePort: 30_080, number: 1, endpoints: 0 }, 'reject'],
    ['with endpoints here, of policy Local', local, 'forward'],
    ['without endpoints here, of policy Local', { ...local, endpoints: 0 }, 'reject'],
  ])('%s is known at the addresses that take node ports, and nowhere else', (_, shape, known) => {
    const at = (nodePortIPs: NodeNetwork['nodePortIPs']) =>
      [one, other, loopback, elsewhere].map((address) => verdict({ nodePortIPs }, shape, address));
    expect(at('all')).toEqual([known, known, 'untouched', 'untouched']);
    expect(at([one])).toEqual([known, 'untouched', 'untouched', 'untouched']);
    expect(at([])).toEqual(['untouched', 'untouched', 'untouched', 'untouched']);
  });

  it.each<[string, Partial<SampleShape>, NodeNetwork['loopbackNodePorts'], string]>([
    ['TCP', {}, 'rejected', 'reject'],
    ['TCP without endpoints', { endpoints: 0 }, 'rejected', 'reject'],
    ['TCP', {}, 'relayed', 'untouched'],
    ['UDP', { protocol: 'UDP' }, 'rejected', 'reject'],
    ['UDP', { protocol: 'UDP' }, 'relayed', 'reject'],
    ['SCTP', { protocol: 'SCTP' }, 'relayed', 'reject'],
  ])('for %s %j, %s on loopback addresses, is %s there', (_, its, loopbackNodePorts, expected) => {
    const shape = { number: 1, nodePort: 30_080, ...its };
    const elsewhereKnown = shape.endpoints === 0 ? 'reject' : 'forward';
    for (const [nodePortIPs, known] of [
      ['all', elsewhereKnown],
      [[other], 'untouched'],
    ] as const) {
      const at = (address: string) => verdict({ nodePortIPs, loopbackNodePorts }, shape, address);
      expect([at(loopback), at(one)]).toEqual([expected, known]);
    }
    const nobodys = { ...shape, nodePort: 30_081 };
    expect(verdict({ nodePortIPs: 'all', loopbackNodePorts }, nobodys, loopback)).toBe('untouched');
  });
});
