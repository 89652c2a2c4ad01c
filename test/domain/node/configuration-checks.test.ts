import {
  familyProblems,
  nodePortWarning,
  unsupportedPrimary,
  type FamilyFacts,
} from '../../../src/domain/node/configuration-checks.js';

const FACTS: FamilyFacts = {
  primaryFamily: 'IPv4',
  supported: ['IPv4', 'IPv6'],
  detectLocalMode: 'ClusterCIDR',
  clusterCIDRs: ['10.244.0.0/16'],
  podCIDRs: ['10.244.1.0/24'],
  nodePortAddresses: ['192.0.2.4/32'],
  excludeCIDRs: [],
  sourceVip: '',
  healthzAddress: '0.0.0.0',
  metricsAddress: '127.0.0.1',
};
const facts = (parts: Partial<FamilyFacts>): FamilyFacts => ({ ...FACTS, ...parts });
const onlyIPv4: Partial<FamilyFacts> = { supported: ['IPv4'] };

describe('nodePortWarning (docs/internals/spec/server.md §5.1)', () => {
  const V4 = '192.0.2.4/32';
  const V6 = 'fd00::4/128';
  const unset = /^nodePortAddresses is unset; .* on all local IPs\..*`--nodeport-addresses primary`$/;
  const halfDual =
    /^cluster appears to be dual-stack but nodePortAddresses contains only IPv4 addresses; .* on all local IPv6 IPs$/;
  const wrongOnly =
    /^cluster appears to be IPv4-primary but nodePortAddresses contains only IPv6 addresses; .* on all local IPv4 IPs$/;

  it.each<[Partial<FamilyFacts>, RegExp]>([
    [{ nodePortAddresses: [] }, unset],
    [{ nodePortAddresses: [V4], clusterCIDRs: ['10.0.0.0/8', 'fd00::/48'] }, halfDual],
    [{ nodePortAddresses: [V4], podCIDRs: ['10.0.0.0/8', 'fd00::/48'] }, halfDual],
    [{ nodePortAddresses: [V4], excludeCIDRs: ['10.0.0.0/8', 'fd00::/48'] }, halfDual],
    [{ nodePortAddresses: [V6] }, wrongOnly],
  ])('%j', (parts, expected) => {
    expect(nodePortWarning(facts(parts))).toMatch(expected);
  });

  it.each<Partial<FamilyFacts>>([
    { nodePortAddresses: [V4] },
    { nodePortAddresses: [V4, V6] },
    { nodePortAddresses: [V6], primaryFamily: 'IPv6' },
    { nodePortAddresses: [V4, V6], clusterCIDRs: ['10.0.0.0/8', 'fd00::/48'] },
  ])('nothing about %j', (parts) => {
    expect(nodePortWarning(facts(parts))).toBeUndefined();
  });
});

describe('unsupportedPrimary (docs/internals/spec/server.md §5.2)', () => {
  it('is the primary family that the machine cannot serve', () => {
    expect(unsupportedPrimary(facts(onlyIPv4))).toBeUndefined();
    expect(unsupportedPrimary(facts({ ...onlyIPv4, primaryFamily: 'IPv6' }))).toBe(
      'no support for primary IP family "IPv6"',
    );
    expect(unsupportedPrimary(facts({ supported: ['IPv6'] }))).toBe(
      'no support for primary IP family "IPv4"',
    );
  });
});

describe('familyProblems (docs/internals/spec/server.md §5.3)', () => {
  const V6 = 'fd00::/48';
  const NONE = { problems: [], fatal: false };

  it.each<[Partial<FamilyFacts>, string, boolean]>([
    [{ clusterCIDRs: [V6] }, 'cluster is IPv4-primary but clusterCIDRs contains only IPv6 addresses', false],
    [
      { ...onlyIPv4, clusterCIDRs: [V6] },
      'cluster is IPv4-only but clusterCIDRs contains only IPv6 addresses',
      true,
    ],
    [
      { ...onlyIPv4, clusterCIDRs: [V6], detectLocalMode: 'BridgeInterface' },
      'cluster is IPv4-only but clusterCIDRs contains only IPv6 addresses',
      false,
    ],
    [
      { podCIDRs: [V6] },
      'cluster is IPv4-primary but node.spec.podCIDRs contains only IPv6 addresses',
      false,
    ],
    [
      { podCIDRs: [V6], detectLocalMode: 'NodeCIDR' },
      'cluster is IPv4-primary but node.spec.podCIDRs contains only IPv6 addresses',
      true,
    ],
    [{ sourceVip: 'fd00::1' }, 'cluster is IPv4-primary but winkernel.sourceVip is IPv6', false],
    [
      { ...onlyIPv4, excludeCIDRs: [V6] },
      'cluster is IPv4-only but ipvs.excludeCIDRs contains only IPv6 addresses',
      false,
    ],
    [{ ...onlyIPv4, healthzAddress: '::1' }, 'cluster is IPv4-only but healthzBindAddress is IPv6', false],
    [{ ...onlyIPv4, metricsAddress: '::1' }, 'cluster is IPv4-only but metricsBindAddress is IPv6', false],
    [
      { primaryFamily: 'IPv6', clusterCIDRs: ['10.244.0.0/16'], podCIDRs: [] },
      'cluster is IPv6-primary but clusterCIDRs contains only IPv4 addresses',
      false,
    ],
  ])('%j: %s', (parts, problem, fatal) => {
    expect(familyProblems(facts(parts))).toEqual({ problems: [problem], fatal });
  });

  it.each<Partial<FamilyFacts>>([
    {},
    { clusterCIDRs: [V6, '10.0.0.0/8'] },
    { clusterCIDRs: [] },
    { excludeCIDRs: [V6], healthzAddress: '::1', metricsAddress: '::1' },
    { ...onlyIPv4, healthzAddress: '::', metricsAddress: '' },
  ])('nothing about %j', (parts) => {
    expect(familyProblems(facts(parts))).toEqual(NONE);
  });

  it('reports everything at once', () => {
    const { problems, fatal } = familyProblems(facts({ ...onlyIPv4, clusterCIDRs: [V6], podCIDRs: [V6] }));
    expect([problems.length, fatal]).toEqual([2, true]);
  });
});
