import { NftablesTracer } from '../../../../src/diagnostics/adapters/rules/nftables-rules.js';
import { ForwardingTable } from '../../../../src/domain/forwarding/forwarding-table.js';
import { ClusterState } from '../../../../src/domain/state/cluster-state.js';
import { IP_FAMILIES, type IpFamily } from '../../../../src/domain/net/ip-family.js';
import { service, slice, sliceEndpoint } from '../../../support/samples.js';

const tracer = new NftablesTracer(() => Promise.reject(new Error('the kernel is not read')));

const contexts = {
  of: (family: IpFamily) => ({
    forwarding: {
      family,
      topology: { nodeName: 'n1', zone: '', nodeHints: false },
      nodeIP: family === 'IPv4' ? '127.0.0.1' : '::1',
      externalIPsAllowed: true,
    },
    network: {
      family,
      detector: undefined,
      masqueradeBit: 14,
      masqueradeAll: false,
      nodePortIPs: 'all' as const,
      serviceCIDRs: [],
    },
  }),
};

it('a plan has the rules of a family, and does not depend on the order of events', async () => {
  const apply = [
    (state: ClusterState) => state.applyService(service()),
    (state: ClusterState) =>
      state.applyService(service({ name: 'till', clusterIPs: { IPv4: '10.96.7.2', IPv6: 'fd00::7' } })),
    (state: ClusterState) => state.applySlice(slice('a', [sliceEndpoint('10.244.1.5')])),
  ];
  const plan = async (steps: typeof apply) => {
    const state = new ClusterState();
    for (const step of steps) step(state);
    const texts = IP_FAMILIES.map((family) => {
      const { forwarding, network } = contexts.of(family);
      return tracer.plan(ForwardingTable.of(state, forwarding).entries(), network);
    });
    return Promise.all(texts);
  };
  const texts = await plan(apply);
  expect(await plan([...apply].reverse())).toEqual(texts);
  const [ipv4, ipv6] = texts;
  expect(ipv4).toContain('table ip kube-proxy');
  expect(ipv4).toContain('10.96.7.1');
  expect(ipv4).toContain('10.244.1.5');
  expect(ipv6).toContain('fd00::7');
  expect(ipv6).not.toContain('10.96.7');
});
