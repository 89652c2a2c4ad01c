import { MemoryLogger } from '../../../src/testing/fakes/memory-logger.js';
import {
  CheckNode,
  NodeMismatchError,
  type CheckedSettings,
} from '../../../src/application/node/check-node.js';
import type { Node } from '../../../src/domain/model/node.js';
import { parseAddress } from '../../../src/domain/net/address.js';
import type { IpFamily } from '../../../src/domain/net/ip-family.js';

const SETTINGS: CheckedSettings = {
  bindAddress: '0.0.0.0',
  nodePortAddresses: ['primary'],
  detectLocalMode: 'ClusterCIDR',
  detectsLocalTraffic: true,
  clusterCIDRs: ['10.244.0.0/16'],
  excludeCIDRs: [],
  sourceVip: '',
  healthzAddress: '0.0.0.0',
  metricsAddress: '127.0.0.1',
};
let logger: MemoryLogger;
let node: Node | undefined;

beforeEach(() => {
  logger = new MemoryLogger();
  node = nodeWith('192.0.2.4');
});

function nodeWith(...ips: string[]): Node {
  return { name: 'n1', zone: '', ips: ips.map((ip) => parseAddress(ip)!), podCIDRs: [], draining: false };
}

function check(settings: Partial<CheckedSettings> = {}, supported: readonly IpFamily[] = ['IPv4', 'IPv6']) {
  return new CheckNode({ ...SETTINGS, ...settings }, supported, () => node, logger);
}

const told = (): unknown[] => logger.at('error').map(({ facts }) => facts.problem);

describe('CheckNode', () => {
  it('has nothing to say about what fits', () => {
    check().atStart();
    expect(logger.lines).toEqual([]);
  });

  it.each([
    [['localhost'], false],
    [['all'], false],
    [['primary', 'localhost'], false],
    [['primary'], false],
    [['10.0.0.0/8'], true],
  ])('nodePortAddresses %j of one family in a cluster of both: %s', (nodePortAddresses, warned) => {
    node = nodeWith('192.0.2.4', 'fd00::4');
    check({ nodePortAddresses, clusterCIDRs: ['10.244.0.0/16', 'fd00:1::/64'] }).atStart();
    expect(told()).toEqual(warned ? [expect.stringContaining('contains only IPv4 addresses')] : []);
  });

  it('reports a node that has only a loopback address', () => {
    node = undefined;
    check().atStart();
    expect(told()).toEqual(['127.0.0.1', expect.stringContaining('nodePortAddresses is unset')]);
    expect(logger.lines[0]!.message).toContain('--bind-address');
  });

  it('takes the bind address before the Node', () => {
    node = undefined;
    check({ bindAddress: '192.0.2.9' }).atStart();
    expect(told()).toEqual([]);
    expect(() => check({ bindAddress: 'fd00::9' }, ['IPv4']).atStart()).toThrow(
      'no support for primary IP family "IPv6"',
    );
  });

  it('ends a start that would do the wrong thing, with all that is wrong', () => {
    const wrong = { clusterCIDRs: ['fd00::/48'], healthzAddress: '::1' };
    expect(() => check(wrong, ['IPv4']).atStart()).toThrow(
      'kube-proxy configuration is incorrect: [cluster is IPv4-only but clusterCIDRs contains only IPv6 addresses, ' +
        'cluster is IPv4-only but healthzBindAddress is IPv6]',
    );
  });

  it('only logs what does no harm', () => {
    check({ clusterCIDRs: ['fd00::/48'] }).atStart();
    expect(told()).toEqual(['cluster is IPv4-primary but clusterCIDRs contains only IPv6 addresses']);
  });

  it('continues when the Node changes to something unsupported, and logs it once', () => {
    const checks = check({}, ['IPv4']);
    checks.atStart();
    node = nodeWith('fd00::4');
    checks.again();
    checks.again();
    expect(told()).toContain('no support for primary IP family "IPv6"');
    expect(new Set(told()).size).toBe(told().length);
  });

  it('refuses edited settings that do not fit, and keeps the former ones', () => {
    const checks = check({}, ['IPv4']);
    const edits: readonly Partial<CheckedSettings>[] = [
      { clusterCIDRs: ['fd00::/48'] },
      { detectLocalMode: 'NodeCIDR' },
    ];
    for (const edit of edits)
      expect(() => checks.edited({ ...SETTINGS, ...edit })).toThrow(NodeMismatchError);
    checks.again();
    expect(logger.lines).toEqual([]);
  });

  it('judges by edited settings from then on', () => {
    const checks = check();
    checks.edited({ ...SETTINGS, clusterCIDRs: ['10.1.0.0/16'], nodePortAddresses: ['192.0.2.0/24'] });
    expect(told()).toEqual([]);
    node = nodeWith('fd00::4');
    checks.again();
    expect(told()).toContainEqual('cluster is IPv6-primary but clusterCIDRs contains only IPv4 addresses');
  });

  describe('local traffic that nothing defines', () => {
    const warned = () => logger.at('warn').map(({ message, facts }) => [message, facts.ipFamily]);

    it.each([
      [
        { clusterCIDRs: [] },
        'Detect-local-mode set to ClusterCIDR, but no cluster CIDR specified for primary IP family',
      ],
      [
        { clusterCIDRs: ['fd00::/48'] },
        'Detect-local-mode set to ClusterCIDR, but no cluster CIDR specified for primary IP family',
      ],
      [
        { detectLocalMode: 'NodeCIDR' },
        'Detect-local-mode set to NodeCIDR, but no PodCIDR defined at node for primary IP family',
      ],
    ] as const)(
      'is a warning in the words of kube-proxy, once, and one of status: %j',
      (settings, message) => {
        const checks = check(settings);
        checks.atStart();
        checks.again();
        expect(warned()).toEqual([[message, 'IPv4']]);
        expect(checks.warnings).toEqual([
          expect.stringMatching(/ IPv4: traffic of pods cannot be distinguished/),
        ]);
      },
    );

    it('is none where an interface defines it, and in modes that do not distinguish it', () => {
      for (const settings of [
        { detectLocalMode: 'BridgeInterface', clusterCIDRs: [] },
        { detectsLocalTraffic: false, clusterCIDRs: [] },
        { detectLocalMode: 'NodeCIDR', detectsLocalTraffic: false },
      ] as const) {
        const checks = check(settings);
        checks.atStart();
        expect([warned(), checks.warnings]).toEqual([[], []]);
      }
    });

    it('is over once an edit defines it', () => {
      const checks = check({ clusterCIDRs: [] });
      checks.atStart();
      checks.edited(SETTINGS);
      expect(checks.warnings).toEqual([]);
    });
  });
});
