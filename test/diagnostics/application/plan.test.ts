import { NftablesPlanner } from '../../../src/diagnostics/adapters/rules/nftables-rules.js';
import { planFamilies } from '../../../src/diagnostics/application/plan.js';
import { ClusterState } from '../../../src/domain/state/cluster-state.js';
import type { IpFamily } from '../../../src/domain/net/ip-family.js';
import { service, slice, sliceEndpoint } from '../../support/samples.js';

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

it('planFamilies prints what each family would get, and does not depend on the order of events', () => {
  const apply = [
    (state: ClusterState) => state.applyService(service()),
    (state: ClusterState) =>
      state.applyService(service({ name: 'till', clusterIPs: { IPv4: '10.96.7.2', IPv6: 'fd00::7' } })),
    (state: ClusterState) => state.applySlice(slice('a', [sliceEndpoint('10.244.1.5')])),
  ];
  const plan = (steps: typeof apply) => {
    const state = new ClusterState();
    for (const step of steps) step(state);
    return planFamilies(state, contexts, ['IPv4', 'IPv6'], new NftablesPlanner());
  };
  const text = plan(apply);
  expect(plan([...apply].reverse())).toBe(text);
  const [ipv4 = '', ipv6 = ''] = text.split(/(?=table ip6 )/);
  expect(ipv4).toContain('table ip kube-proxy');
  expect(ipv4).toContain('10.96.7.1');
  expect(ipv4).toContain('10.244.1.5');
  expect(ipv6).toContain('fd00::7');
  expect(ipv6).not.toContain('10.96.7');
});
