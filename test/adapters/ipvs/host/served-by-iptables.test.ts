import { servedByIptables } from '../../../../src/adapters/ipvs/host/served-by-iptables.js';

const listing = (rules: readonly string[] | undefined) => ({ listChain: () => Promise.resolve(rules) });

it.each([
  ['no chain', undefined, false],
  ['an empty chain', [], false],
  ['the rules of mode ipvs', ['-m set --match-set KUBE-LOAD-BALANCER dst,dst -j KUBE-LOAD-BALANCER'], false],
  [
    'mode iptables without a service that has endpoints',
    ['-m addrtype --dst-type LOCAL -j KUBE-NODEPORTS'],
    false,
  ],
  ['mode iptables', ['-d 10.96.0.1/32 -p tcp -m tcp --dport 443 -j KUBE-SVC-NPX46M4PTMTKRN6Y'], true],
])('the cluster is served by mode iptables or not: %s', async (_, rules, served) => {
  expect(await servedByIptables(listing(rules), 'IPv4')).toBe(served);
});
