import { proxyTables } from '../../../../src/diagnostics/domain/iptables/saved-rules.js';

it('keeps what proxies have, and of built-in chains what leads there', () => {
  const own = { name: 'KUBE-SERVICES', policy: undefined, rules: ['-d 10.96.0.1/32 -j KUBE-SVC-A'] };
  const chains = [
    own,
    {
      name: 'FORWARD',
      policy: 'DROP',
      rules: ['-j CALICO', '-m comment --comment "x" -j KUBE-FORWARD', '-s 10.0.0.1/32 -j ACCEPT'],
    },
    { name: 'CALICO', policy: undefined, rules: ['-j KUBE-SERVICES'] },
  ];
  expect(proxyTables([{ name: 'filter', chains }])).toEqual([
    {
      name: 'filter',
      chains: [
        own,
        { name: 'FORWARD', policy: 'ACCEPT', rules: ['-m comment --comment "x" -j KUBE-FORWARD'] },
      ],
    },
  ]);
});
