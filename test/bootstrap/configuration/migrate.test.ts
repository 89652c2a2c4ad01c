import { UsageError } from '../../../src/adapters/cli/usage-error.js';
import { failure, parsePlugin } from './support.js';

const usageError = (...argv: readonly string[]) =>
  failure(UsageError, () => parsePlugin(['migrate', ...argv])).message;

it('reads what a migration is asked for', () => {
  const args = ['--to', 'nftables', '--check', '--nodes', 'b,a', '--node-selector', 'zone=z,pool==p'];
  const more = ['--expect', 'other-ports,unknown', '--expect', 'hairpin-elsewhere', '--image', 'i:1'];
  const checks = ['--health-check', 'one', '--health-check', 'two', '--timeout', '30', '--label', 'proxy'];
  expect(parsePlugin(['migrate', ...args, ...more, ...checks]).request).toMatchObject({
    name: 'migrate',
    migration: {
      to: 'nftables',
      check: true,
      label: 'proxy',
      nodes: ['b', 'a'],
      nodeLabels: { zone: 'z', pool: 'p' },
      image: 'i:1',
      expected: ['other-ports', 'unknown', 'hairpin-elsewhere'],
      healthChecks: ['one', 'two'],
      timeout: 30_000,
    },
    access: { proxyNamespace: 'kube-system', parallel: 20 },
    output: 'text',
  });
});

it.each([
  [[], 'migrate takes --to MODE or --to kube-proxy'],
  [['--to', 'userspace'], /Allowed choices are iptables, ipvs, nftables, kube-proxy/],
  [['--to', 'ipvs', 'now'], '"kubectl kubeproxy migrate" does not take any arguments, got [now]'],
  [
    ['--to', 'ipvs', '--expect', 'ports'],
    /there is no known difference "ports"; there are other-ports, .*, unknown$/,
  ],
  [['--to', 'ipvs', '--node-selector', 'zone'], '--node-selector takes KEY=VALUE[,KEY=VALUE...], not "zone"'],
  [['--to', 'ipvs', '--timeout', '0'], /whole number of seconds/],
])('does not take %j', (args, message) => {
  const said = usageError(...args);
  if (typeof message === 'string') expect(said).toBe(message);
  else expect(said).toMatch(message);
});
