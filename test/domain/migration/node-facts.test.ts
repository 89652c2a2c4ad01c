import { leftovers, type NodeFacts } from '../../../src/domain/migration/node-facts.js';

const facts: NodeFacts = {
  kernel: '6.1.0',
  iptables: 'nft 1.8.9',
  rules: [
    { place: 'iptables-nft', family: 'IPv4', count: 12 },
    { place: 'iptables-nft', family: 'IPv6', count: 8 },
    { place: 'iptables-legacy', family: 'IPv4', count: 3 },
    { place: 'nftables', family: 'IPv4', count: 7 },
    { place: 'ipvs', family: 'IPv4', count: 2 },
  ],
  schedulers: [],
  unseen: [],
};

it.each([
  ['nftables', ['20 chains of iptables-nft', '3 chains of iptables-legacy', '2 virtual servers']],
  ['iptables', ['3 chains of iptables-legacy', '7 chains of the table kube-proxy', '2 virtual servers']],
  ['ipvs', ['3 chains of iptables-legacy', '7 chains of the table kube-proxy']],
] as const)('in mode %s all that is of another place is left over', (mode, left) => {
  expect(leftovers(facts, mode)).toEqual(left);
});

it('of iptables, what the other variant has is left over', () => {
  expect(leftovers({ ...facts, iptables: 'legacy 1.8.9' }, 'iptables')[0]).toBe('20 chains of iptables-nft');
});
