import { servedByIptables } from '../../../src/adapters/ipvs/node-requirements.js';

type Rules = readonly string[] | undefined;
const listing = (services: Rules, nodePorts?: Rules) => ({
  listChain: (_family: unknown, _table: unknown, chain: string) =>
    Promise.resolve(chain === 'KUBE-NODEPORTS' ? nodePorts : services),
});
const TO_NODE_PORTS = '-m addrtype --dst-type LOCAL -j KUBE-NODEPORTS';
const NODE_PORT = '-p tcp -m tcp --dport 30010 -j KUBE-EXT-4SXYIDQLOLGMOQ5I';

it.each([
  ['no chain', undefined, false],
  ['an empty chain', [], false],
  ['the rules of mode ipvs', ['-m set --match-set KUBE-LOAD-BALANCER dst,dst -j KUBE-LOAD-BALANCER'], false],
  ['mode iptables without a service that has endpoints', [TO_NODE_PORTS], false],
  ['mode iptables', ['-d 10.96.0.1/32 -p tcp -m tcp --dport 443 -j KUBE-SVC-NPX46M4PTMTKRN6Y'], true],
])('the cluster is served by mode iptables or not: %s', async (_, rules, served) => {
  expect(await servedByIptables(listing(rules), 'IPv4')).toBe(served);
});

it('is served by mode iptables where only node ports have endpoints, unless nothing leads there any more', async () => {
  expect(await servedByIptables(listing([TO_NODE_PORTS], [NODE_PORT]), 'IPv4')).toBe(true);
  expect(await servedByIptables(listing([TO_NODE_PORTS], []), 'IPv4')).toBe(false);
  expect(await servedByIptables(listing([], [NODE_PORT]), 'IPv4')).toBe(false);
});
