import { readService } from '../../../src/domain/decode/read-service.js';
import { parseAddress } from '../../../src/domain/net/address.js';
import { cidrText } from '../../../src/domain/net/cidr.js';
import { rawService } from '../../support/objects.js';

const read = (spec: object, rest: object = {}) => readService(rawService(spec, rest));
const addresses = (...texts: string[]) => texts.map((text) => parseAddress(text));

describe('Services that are seen (docs/internals/spec/model.md §2.1)', () => {
  it.each([
    [
      'another proxy',
      {},
      { metadata: { namespace: 'a', name: 'b', labels: { 'service.kubernetes.io/service-proxy-name': '' } } },
      'other-proxy',
    ],
    ['headless', { clusterIP: 'None' }, {}, 'headless'],
    [
      'headless with other addresses',
      { clusterIP: 'None', clusterIPs: ['10.0.0.1'], ipFamilies: ['IPv4'] },
      {},
      'headless',
    ],
    ['no cluster IP', { clusterIP: '' }, {}, 'no-cluster-ip'],
    ['cluster IP missing', { clusterIP: undefined }, {}, 'no-cluster-ip'],
    ['cluster IP null', { clusterIP: null }, {}, 'no-cluster-ip'],
    ['ExternalName, even with a cluster IP', { type: 'ExternalName' }, {}, 'external-name'],
  ])('ignores: %s', (_, spec, rest, reason) => {
    const { value, ignored, problems } = read(spec, rest);
    expect(value).toBeUndefined();
    expect(ignored).toBe(reason);
    expect(problems).toEqual([]);
  });

  it.each([
    ['NodePort', 'NodePort'],
    ['LoadBalancer', 'LoadBalancer'],
    [undefined, 'ClusterIP'],
    ['OfALaterKubernetes', 'ClusterIP'],
  ])('takes type %s for %s', (type, expected) => {
    expect(read({ type }).value?.type).toBe(expected);
  });

  it.each([
    ['the cluster IP of its own family', {}, { IPv4: '10.96.7.1' }],
    ['IPv6 alone', { clusterIP: 'FD00:96::0071' }, { IPv6: 'fd00:96::71' }],
    [
      'clusterIPs without ipFamilies do not count',
      { clusterIPs: ['10.96.7.1', 'fd00::1'] },
      { IPv4: '10.96.7.1' },
    ],
    [
      'both families by position',
      { clusterIPs: ['fd00::1', '10.96.7.2'], ipFamilies: ['IPv6', 'IPv4'] },
      { IPv6: 'fd00::1', IPv4: '10.96.7.2' },
    ],
    [
      'a family without an address',
      { clusterIPs: ['10.96.7.1'], ipFamilies: ['IPv4', 'IPv6'] },
      { IPv4: '10.96.7.1' },
    ],
    [
      'an address without a family',
      { clusterIPs: ['10.96.7.1', 'fd00::1'], ipFamilies: ['IPv4'] },
      { IPv4: '10.96.7.1' },
    ],
    ['leading zeros', { clusterIP: '010.96.007.1' }, { IPv4: '10.96.7.1' }],
  ])('reads cluster IPs: %s', (_, spec, expected) => {
    expect(read(spec).value?.clusterIPs).toEqual(expected);
  });
});

describe('properties of Services (docs/internals/spec/model.md §2.2)', () => {
  it('reads the worked example', () => {
    const { value, problems } = readService({
      metadata: { namespace: 'shop', name: 'cart' },
      spec: {
        type: 'LoadBalancer',
        clusterIP: '10.96.7.1',
        clusterIPs: ['10.96.7.1', 'fd00:96::71'],
        ipFamilies: ['IPv4', 'IPv6'],
        ports: [{ name: 'web', protocol: 'TCP', port: 80, nodePort: 31080 }],
        loadBalancerSourceRanges: [' 198.51.100.7/24', '2001:db8::/32'],
        externalTrafficPolicy: 'Local',
        healthCheckNodePort: 32111,
      },
      status: {
        loadBalancer: {
          ingress: [
            { ip: '203.0.113.9' },
            { ip: '203.0.113.10', ipMode: 'Proxy' },
            { hostname: 'lb.example' },
          ],
        },
      },
    });
    expect(problems).toEqual([]);
    expect(value).toEqual({
      namespace: 'shop',
      name: 'cart',
      type: 'LoadBalancer',
      clusterIPs: { IPv4: '10.96.7.1', IPv6: 'fd00:96::71' },
      ports: [{ name: 'web', protocol: 'TCP', port: 80, nodePort: 31080 }],
      affinitySeconds: 0,
      externalIPs: [],
      loadBalancerIPs: addresses('203.0.113.9'),
      sourceRanges: [
        { family: 'IPv4', address: '198.51.100.0', prefixLength: 24 },
        { family: 'IPv6', address: '2001:db8::', prefixLength: 32 },
      ],
      externalPolicyLocal: true,
      internalPolicyLocal: false,
      healthCheckNodePort: 32111,
    });
  });

  it('ports: TCP, no name and no node port are the defaults; protocol is part of the identity', () => {
    const ports = [
      { port: 53 },
      { port: 53, protocol: 'UDP' },
      { name: 'y', port: 53, protocol: '' },
      { name: 'x', port: 1, protocol: 'SCTP', nodePort: 30000 },
    ];
    expect(read({ ports }).value?.ports).toEqual([
      { name: '', protocol: 'TCP', port: 53, nodePort: 0 },
      { name: '', protocol: 'UDP', port: 53, nodePort: 0 },
      { name: 'y', protocol: 'TCP', port: 53, nodePort: 0 },
      { name: 'x', protocol: 'SCTP', port: 1, nodePort: 30000 },
    ]);
    expect(read({ ports: undefined }).value?.ports).toEqual([]);
  });

  it.each([
    [{ sessionAffinity: 'None', sessionAffinityConfig: { clientIP: { timeoutSeconds: 5 } } }, 0],
    [{}, 0],
    [{ sessionAffinity: 'ClientIP' }, 10800],
    [{ sessionAffinity: 'ClientIP', sessionAffinityConfig: null }, 10800],
    [{ sessionAffinity: 'ClientIP', sessionAffinityConfig: { clientIP: { timeoutSeconds: 1 } } }, 1],
    [{ sessionAffinity: 'ClientIP', sessionAffinityConfig: { clientIP: { timeoutSeconds: 86400 } } }, 86400],
  ])('affinity %j: %i s', (spec, seconds) => {
    expect(read(spec).value?.affinitySeconds).toBe(seconds);
  });

  it('external IPs: of both families, blank ones ignored silently, bad ones reported', () => {
    const { value, problems } = read({ externalIPs: ['192.0.2.1', '', ' ', 'FD00::9', 'nonsense', 7] });
    expect(value?.externalIPs).toEqual(addresses('192.0.2.1', 'fd00::9'));
    expect(problems).toEqual([
      'spec.externalIPs[4] "nonsense" is not an IP address; ignored',
      'spec.externalIPs[5] 7 is not an IP address; ignored',
    ]);
  });

  it('external and load-balancer IPs that no Service may have are ignored by name', () => {
    const { value, problems } = read(
      { externalIPs: ['127.0.0.1', '0.0.0.0', 'ff05::2', '192.0.2.1', '255.255.255.255', '169.254.1.1'] },
      { status: { loadBalancer: { ingress: [{ ip: '::1' }, { ip: '239.1.2.3' }, { ip: '192.0.2.2' }] } } },
    );
    expect(value?.externalIPs).toEqual(addresses('192.0.2.1', '169.254.1.1'));
    expect(value?.loadBalancerIPs).toEqual(addresses('192.0.2.2'));
    expect(problems).toEqual([
      'spec.externalIPs[0] "127.0.0.1" is loopback; ignored',
      'spec.externalIPs[1] "0.0.0.0" is unspecified; ignored',
      'spec.externalIPs[2] "ff05::2" is multicast; ignored',
      'spec.externalIPs[4] "255.255.255.255" is broadcast; ignored',
      'status.loadBalancer.ingress[0].ip "::1" is loopback; ignored',
      '… and 1 more problems',
    ]);
  });

  it.each([
    ['2026-05-04T12:02:11Z', 1777896131, []],
    [undefined, undefined, []],
    [null, undefined, []],
    ['yesterday', undefined, ['metadata.creationTimestamp "yesterday" is not an RFC 3339 time; ignored']],
  ])('created at %j: %s', (creationTimestamp, seconds, expected) => {
    const { value, notes } = readService({
      metadata: { namespace: 'shop', name: 'cart', creationTimestamp },
      spec: { clusterIP: '10.96.7.1' },
    });
    expect([value?.createdAt, notes]).toEqual([seconds, expected]);
  });

  it.each([
    [{ ip: '203.0.113.9' }, ['203.0.113.9']],
    [{ ip: '203.0.113.9', ipMode: 'VIP' }, ['203.0.113.9']],
    [{ ip: '203.0.113.9', ipMode: null }, ['203.0.113.9']],
    [{ ip: '203.0.113.9', ipMode: 'Proxy' }, []],
    [{ ip: '203.0.113.9', ipMode: 'Future' }, []],
    [{ ip: '', ipMode: 'VIP' }, []],
    [{ hostname: 'lb.example' }, []],
    [{ ip: 'FD00::9' }, ['fd00::9']],
  ])('load-balancer ingress %j: %j, whatever the type', (ingress, expected) => {
    for (const type of ['LoadBalancer', 'ClusterIP', 'NodePort', undefined]) {
      const { value } = read({ type }, { status: { loadBalancer: { ingress: [ingress] } } });
      expect(value?.loadBalancerIPs).toEqual(addresses(...expected));
    }
  });

  it('names a load-balancer IP that is none by its place in the list', () => {
    const ingress = [{ hostname: 'lb' }, { ip: 'bad' }];
    const { value, problems } = read({}, { status: { loadBalancer: { ingress } } });
    expect(value?.loadBalancerIPs).toEqual([]);
    expect(problems).toEqual(['status.loadBalancer.ingress[1].ip "bad" is not an IP address; ignored']);
  });

  it.each([
    [undefined, []],
    [['10.1.2.3/8'], ['10.0.0.0/8']],
    [['\t10.1.2.3/8 '], ['10.0.0.0/8']],
    [['10.0.0.0/8', '0.0.0.0/0'], []],
    [['10.0.0.0/8', '10.9.9.9/0', 'fd00::/8'], ['fd00::/8']],
    [['10.0.0.0/8', '::/0'], ['10.0.0.0/8']],
  ])('source ranges %j: %j', (loadBalancerSourceRanges, expected) => {
    const { value, problems } = read({ loadBalancerSourceRanges });
    expect(value?.sourceRanges.map(cidrText)).toEqual(expected);
    expect(problems).toEqual([]);
  });

  it.each([
    ['LoadBalancer', [], true],
    ['NodePort', [], true],
    ['ClusterIP', [], false],
    [undefined, [], false],
    ['ClusterIP', ['192.0.2.1'], true],
    ['ClusterIP', ['fd00::1'], true],
  ])('external policy Local counts for %s with external IPs %j: %s', (type, externalIPs, expected) => {
    expect(read({ type, externalIPs, externalTrafficPolicy: 'Local' }).value?.externalPolicyLocal).toBe(
      expected,
    );
    expect(read({ type, externalIPs, externalTrafficPolicy: 'Cluster' }).value?.externalPolicyLocal).toBe(
      false,
    );
    expect(read({ type, externalIPs }).value?.externalPolicyLocal).toBe(false);
  });

  it.each([
    ['Local', true],
    ['Cluster', false],
    [undefined, false],
  ])('internal policy %s', (internalTrafficPolicy, expected) => {
    expect(read({ internalTrafficPolicy }).value?.internalPolicyLocal).toBe(expected);
  });

  it.each([
    ['LoadBalancer', 'Local', 32111],
    ['LoadBalancer', 'Cluster', 0],
    ['NodePort', 'Local', 0],
    ['ClusterIP', 'Local', 0],
  ])('health-check node port of %s with external policy %s', (type, externalTrafficPolicy, expected) => {
    const { value, problems } = read({ type, externalTrafficPolicy, healthCheckNodePort: 32111 });
    expect(value?.healthCheckNodePort).toBe(expected);
    expect(problems).toEqual([]);
  });

  it('reports a health-check node port that is missing', () => {
    const { value, problems, notes } = read({ type: 'LoadBalancer', externalTrafficPolicy: 'Local' });
    expect(value?.healthCheckNodePort).toBe(0);
    expect([problems, notes]).toEqual([[], [expect.stringContaining('spec.healthCheckNodePort')]]);
  });
});

describe('an invalid Service is rejected with its field', () => {
  it.each([
    ['metadata.name', { metadata: { namespace: 'shop', name: 'Cart' } }],
    ['metadata.name', { metadata: { namespace: 'shop' } }],
    ['metadata.name', { metadata: { namespace: 'shop', name: 'x'.repeat(64) } }],
    ['metadata.name', { metadata: { namespace: 'shop', name: 'a\n' } }],
    ['metadata.namespace', { metadata: { namespace: 'a b', name: 'cart' } }],
    ['metadata', { metadata: 'cart' }],
    ['spec', { spec: [] }],
    ['status', { status: 1 }],
    ['status.loadBalancer.ingress', { status: { loadBalancer: { ingress: {} } } }],
    ['status.loadBalancer.ingress[0]', { status: { loadBalancer: { ingress: ['203.0.113.9'] } } }],
  ])('%s in %j', (field, rest) => {
    const { value, ignored, problems } = read({}, rest);
    expect([value, ignored]).toEqual([undefined, undefined]);
    expect(problems).toEqual([expect.stringMatching(new RegExp(`^${escape(field)}( |$)`))]);
  });

  it.each([
    ['spec.clusterIP', { clusterIP: '10.96.7' }],
    ['spec.clusterIP', { clusterIP: 10 }],
    ['spec.clusterIPs[1]', { clusterIPs: ['10.96.7.1', 'x'], ipFamilies: ['IPv4', 'IPv6'] }],
    ['spec.clusterIPs[0]', { clusterIPs: ['fd00::1'], ipFamilies: ['IPv4'] }],
    ['spec.clusterIPs', { clusterIPs: 'x', ipFamilies: ['IPv4'] }],
    ['spec.ipFamilies', { ipFamilies: 'IPv4' }],
    ['spec.type', { type: 7 }],
    ['spec.sessionAffinity', { sessionAffinity: true }],
    ['spec.externalTrafficPolicy', { externalTrafficPolicy: ['Local'] }],
    ['spec.internalTrafficPolicy', { internalTrafficPolicy: 1 }],
    ['spec.ports', { ports: {} }],
    ['spec.ports[1]', { ports: [{ port: 80 }, 81] }],
    ['spec.ports[0].port', { ports: [{ port: 0 }] }],
    ['spec.ports[0].port', { ports: [{ port: 65536 }] }],
    ['spec.ports[0].port', { ports: [{ port: '80' }] }],
    ['spec.ports[0].port', { ports: [{ port: 80.5 }] }],
    ['spec.ports[0].port', { ports: [{}] }],
    ['spec.ports[0].nodePort', { ports: [{ port: 80, nodePort: -1 }] }],
    ['spec.ports[0].nodePort', { ports: [{ port: 80, nodePort: 65536 }] }],
    ['spec.ports[0].protocol', { ports: [{ port: 80, protocol: 'tcp' }] }],
    ['spec.ports[0].name', { ports: [{ port: 80, name: 'a"; drop' }] }],
    ['spec.ports[0].name', { ports: [{ port: 80, name: 80 }] }],
    [
      'spec.ports[1]',
      {
        ports: [
          { port: 80, name: 'a' },
          { port: 81, name: 'a', protocol: 'TCP' },
        ],
      },
    ],
    [
      'spec.sessionAffinityConfig.clientIP.timeoutSeconds',
      { sessionAffinity: 'ClientIP', sessionAffinityConfig: { clientIP: { timeoutSeconds: 0 } } },
    ],
    [
      'spec.sessionAffinityConfig.clientIP.timeoutSeconds',
      { sessionAffinity: 'ClientIP', sessionAffinityConfig: { clientIP: { timeoutSeconds: 86401 } } },
    ],
    ['spec.sessionAffinityConfig', { sessionAffinity: 'ClientIP', sessionAffinityConfig: 5 }],
    [
      'spec.sessionAffinityConfig.clientIP',
      { sessionAffinity: 'ClientIP', sessionAffinityConfig: { clientIP: 5 } },
    ],
    ['spec.externalIPs', { externalIPs: '192.0.2.1' }],
    ['spec.loadBalancerSourceRanges', { loadBalancerSourceRanges: '10.0.0.0/8' }],
    // Without this entry everybody would be let in, or somebody be shut out.
    ['spec.loadBalancerSourceRanges[1]', { loadBalancerSourceRanges: ['192.0.2.0/24', '10.0.0.1'] }],
    ['spec.loadBalancerSourceRanges[0]', { loadBalancerSourceRanges: [null] }],
    ['spec.loadBalancerSourceRanges[0]', { loadBalancerSourceRanges: [' '] }],
    [
      'spec.healthCheckNodePort',
      { type: 'LoadBalancer', externalTrafficPolicy: 'Local', healthCheckNodePort: 70000 },
    ],
  ])('%s in %j', (field, spec) => {
    const { value, ignored, problems } = read(spec);
    expect([value, ignored]).toEqual([undefined, undefined]);
    expect(problems).toEqual([expect.stringMatching(new RegExp(`^${escape(field)}( |$)`))]);
  });
});

function escape(text: string): string {
  return text.replace(/[.[\]]/g, '\\$&');
}

describe('the annotation that names a scheduler', () => {
  const annotated = (value: unknown) =>
    read(
      {},
      { metadata: { namespace: 'a', name: 'b', annotations: { 'kube-proxy-ts/ipvs-scheduler': value } } },
    );

  it('is read when it can be a scheduler’s name', () => {
    expect(annotated('mh').value?.scheduler).toBe('mh');
    expect(annotated('').value).not.toHaveProperty('scheduler');
    expect(read({}).value).not.toHaveProperty('scheduler');
  });

  it.each([['rr; reboot'], ['a'.repeat(16)], [7]])('is ignored and reported otherwise: %s', (value) => {
    const { value: known, problems, notes } = annotated(value);
    expect(known).toBeDefined();
    expect(known).not.toHaveProperty('scheduler');
    expect([problems, notes]).toEqual([[], [expect.stringContaining('kube-proxy-ts/ipvs-scheduler')]]);
  });

  it('does not matter when annotations are not an object', () => {
    const { value, problems } = read({}, { metadata: { namespace: 'a', name: 'b', annotations: 'none' } });
    expect(value).toBeDefined();
    expect(problems).toEqual([]);
  });
});

describe('the annotation that lets silent endpoints step aside', () => {
  const annotated = (value: unknown) =>
    read(
      {},
      {
        metadata: {
          namespace: 'a',
          name: 'b',
          annotations: { 'kube-proxy-ts/eject-unresponsive-endpoints': value },
        },
      },
    );

  it('is read as it is written', () => {
    expect(annotated('true').value?.ejectUnresponsiveEndpoints).toBe(true);
    expect(annotated('false').value?.ejectUnresponsiveEndpoints).toBe(false);
    expect(read({}).value).not.toHaveProperty('ejectUnresponsiveEndpoints');
  });

  it.each([['yes'], [''], ['True'], [true]])('is ignored and reported otherwise: %j', (value) => {
    const { value: known, problems, notes } = annotated(value);
    expect(known).toBeDefined();
    expect(known).not.toHaveProperty('ejectUnresponsiveEndpoints');
    expect([problems, notes]).toEqual([
      [],
      [
        `metadata.annotations[kube-proxy-ts/eject-unresponsive-endpoints] ${JSON.stringify(value)} is neither "true" nor "false"; ignored, so the configuration decides`,
      ],
    ]);
  });
});
