import {
  endpointSliceWithDefaults,
  nodeWithDefaults,
  serviceWithDefaults,
} from '../../../src/domain/validation/defaults.js';

const specOf = (spec: object) => serviceWithDefaults({ spec }).spec;

describe('the families of a Service', () => {
  it.each([
    [{ clusterIP: '10.96.0.1' }, ['10.96.0.1'], ['IPv4'], 'SingleStack'],
    [{ clusterIP: '10.96.0.1', clusterIPs: [] }, ['10.96.0.1'], ['IPv4'], 'SingleStack'],
    [
      { clusterIP: '10.96.0.1', clusterIPs: ['10.96.0.1', 'fd00::1'], ipFamilyPolicy: 'PreferDualStack' },
      ['10.96.0.1', 'fd00::1'],
      ['IPv4', 'IPv6'],
      'PreferDualStack',
    ],
    [{ clusterIPs: ['10.96.0.1', '10.96.0.2'] }, ['10.96.0.1', '10.96.0.2'], ['IPv4'], 'SingleStack'],
    [
      { clusterIPs: ['10.96.0.1', 'fd00::1'], ipFamilies: ['IPv6'] },
      ['10.96.0.1', 'fd00::1'],
      ['IPv6'],
      'SingleStack',
    ],
    [{ clusterIP: 'None' }, ['None'], undefined, 'RequireDualStack'],
    [{ clusterIP: 'None', selector: {} }, ['None'], undefined, 'RequireDualStack'],
    [{ clusterIP: 'None', selector: { app: 'web' } }, ['None'], undefined, 'SingleStack'],
  ])('%j', (spec, clusterIPs, ipFamilies, ipFamilyPolicy) => {
    const made = specOf(spec) as { readonly ipFamilies?: unknown };
    expect(made).toMatchObject({ clusterIPs, ipFamilyPolicy });
    expect(made.ipFamilies).toEqual(ipFamilies);
  });
});

describe('the affinity of a Service', () => {
  const hours = (timeoutSeconds: unknown) => ({ clientIP: { timeoutSeconds } });
  it.each([
    [{}, { sessionAffinity: 'None' }],
    [{ sessionAffinity: 'ClientIP' }, { sessionAffinityConfig: hours(10_800) }],
    [{ sessionAffinity: 'ClientIP', sessionAffinityConfig: hours(60) }, { sessionAffinityConfig: hours(60) }],
  ])('%j', (spec, made) => {
    expect(specOf(spec)).toMatchObject(made);
  });

  it.each([
    { sessionAffinity: 'None', sessionAffinityConfig: { clientIP: {} } },
    { sessionAffinity: 'ClientIP', sessionAffinityConfig: 'long' },
    { sessionAffinity: 'ClientIP', sessionAffinityConfig: { clientIP: 'long' } },
  ])('stays as it is where there is nothing to fill in: %j', (spec) => {
    expect((specOf(spec) as typeof spec).sessionAffinityConfig).toEqual(spec.sessionAffinityConfig);
  });
});

describe('the policies of a Service', () => {
  it.each([
    [{}, { internalTrafficPolicy: 'Cluster' }],
    [{ internalTrafficPolicy: 'Local' }, { internalTrafficPolicy: 'Local' }],
    [{ externalIPs: ['192.0.2.1'] }, { externalTrafficPolicy: 'Cluster', internalTrafficPolicy: 'Cluster' }],
    [{ type: 'NodePort' }, { externalTrafficPolicy: 'Cluster' }],
    [{ type: 'NodePort', externalTrafficPolicy: 'Local' }, { externalTrafficPolicy: 'Local' }],
  ])('%j', (spec, made) => {
    expect(specOf(spec)).toMatchObject(made);
  });

  it('are none for traffic from outside that cannot come', () => {
    expect(specOf({})).not.toHaveProperty('externalTrafficPolicy');
  });
});

it('ports of a slice have a name and a protocol; what is no port stays, to be reported', () => {
  const whole = { name: 'dns', protocol: 'UDP', port: 53 };
  const made = endpointSliceWithDefaults({ ports: [{ port: 80 }, null, whole, 'http', { protocol: '' }] });
  expect(made.ports).toEqual([
    { name: '', protocol: 'TCP', port: 80 },
    { name: '', protocol: 'TCP' },
    whole,
    'http',
    { name: '', protocol: '' },
  ]);
});

it.each([
  [{ podCIDR: '10.1.0.0/24' }, ['10.1.0.0/24']],
  [{ podCIDR: '10.1.0.0/24', podCIDRs: ['10.2.0.0/24'] }, ['10.1.0.0/24']],
  [{ podCIDR: '10.1.0.0/24', podCIDRs: ['10.1.0.0/24', 'fd00::/64'] }, ['10.1.0.0/24', 'fd00::/64']],
  [{ podCIDR: '10.1.0.0/24', podCIDRs: [5] }, [5]],
  [{ podCIDR: '', podCIDRs: ['10.2.0.0/24'] }, ['10.2.0.0/24']],
])('the networks of a Node follow its first one: %j', (spec, podCIDRs) => {
  expect(nodeWithDefaults({ spec }).spec).toMatchObject({ podCIDRs });
});
