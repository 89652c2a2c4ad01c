import { endpointPlace } from '../../../src/domain/model/endpoint.js';
import { readEndpoints } from '../../../src/domain/decode/read-endpoint-slice.js';
import { readNode } from '../../../src/domain/decode/read-node.js';
import { readServiceCidr, serviceRanges } from '../../../src/domain/decode/read-service-cidr.js';
import { parseAddress } from '../../../src/domain/net/address.js';

describe('readEndpoints', () => {
  const metadata = { namespace: 'shop', name: 'cart' };

  it('says the same as slices: one for each subset and family', () => {
    const { value, problems } = readEndpoints(
      {
        metadata,
        subsets: [
          {
            addresses: [{ ip: '10.244.1.5', nodeName: 'n1' }, { ip: 'FD00::5' }],
            notReadyAddresses: [{ ip: '10.244.1.6' }],
            ports: [{ port: 8080 }, { name: 'dns', port: 53, protocol: 'UDP' }],
          },
          { addresses: [{ ip: '10.244.1.7' }] },
          { ports: [{ port: 1 }] },
        ],
      },
      'n1',
    );
    expect(problems).toEqual([]);
    expect(
      value?.map(({ family, ports }) => [family, ports.map(({ endpoints }) => endpoints.map(endpointPlace))]),
    ).toEqual([
      [
        'IPv4',
        [
          ['10.244.1.5:8080', '10.244.1.6:8080'],
          ['10.244.1.5:53', '10.244.1.6:53'],
        ],
      ],
      ['IPv6', [['[fd00::5]:8080'], ['[fd00::5]:53']]],
      ['IPv4', []],
    ]);
    expect(new Set(value?.map(({ name }) => name)).size).toBe(3);
    expect(value?.every(({ namespace, service }) => namespace === 'shop' && service === 'cart')).toBe(true);
    expect(value?.[0]?.ports).toMatchObject([
      { name: '', protocol: 'TCP' },
      { name: 'dns', protocol: 'UDP' },
    ]);
    expect(value?.[0]?.ports[0]?.endpoints).toEqual([
      expect.objectContaining({ isLocal: true, ready: true, serving: true, terminating: false }),
      expect.objectContaining({ isLocal: false, ready: false, serving: false, terminating: false }),
    ]);
  });

  it('ignores addresses that no endpoint may have, by name', () => {
    const addresses = [{ ip: '::1' }, { ip: '10.244.1.5' }];
    const { value, problems } = readEndpoints(
      { metadata, subsets: [{ addresses, notReadyAddresses: [{ ip: '0.0.0.0' }], ports: [{ port: 80 }] }] },
      'n1',
    );
    expect(value?.map(({ ports }) => ports[0]!.endpoints.map(endpointPlace))).toEqual([['10.244.1.5:80']]);
    expect(problems).toEqual([
      'subsets[0].addresses[0].ip "::1" is loopback; ignored',
      'subsets[0].notReadyAddresses[0].ip "0.0.0.0" is unspecified; ignored',
    ]);
  });

  it('gives slices names that no real slice can have', () => {
    const { value } = readEndpoints({ metadata, subsets: [{ addresses: [{ ip: '10.0.0.1' }] }] }, '');
    expect(value?.[0]?.name).not.toMatch(/^[a-z0-9.-]+$/);
  });

  it('may be empty', () => {
    expect(readEndpoints({ metadata }, 'n1')).toEqual({ value: [], problems: [] });
  });

  it.each([
    ['metadata.name', { metadata: { namespace: 'shop', name: 'a_b' } }],
    ['metadata.namespace', { metadata: { name: 'cart' } }],
    ['subsets', { subsets: {} }],
    ['subsets[0]', { subsets: [1] }],
    ['subsets[0].addresses[0].ip', { subsets: [{ addresses: [{ ip: 'x' }] }] }],
    ['subsets[0].notReadyAddresses[0].ip', { subsets: [{ notReadyAddresses: [{}] }] }],
    ['subsets[1].ports[0].port', { subsets: [{}, { ports: [{ port: 'http' }] }] }],
    ['subsets[0].ports[0].name', { subsets: [{ ports: [{ port: 1, name: ';' }] }] }],
    ['subsets[0].ports[0].protocol', { subsets: [{ ports: [{ port: 1, protocol: 'X' }] }] }],
  ])('is rejected with its field: %s', (field, rest) => {
    const { value, problems } = readEndpoints({ metadata, ...rest }, 'n1');
    expect(value).toBeUndefined();
    expect(problems[0]?.split(' ')[0]).toBe(field);
  });
});

describe('readNode', () => {
  it('reads name, zone, addresses and pod CIDRs', () => {
    expect(
      readNode({
        metadata: { name: 'n1.example', labels: { 'topology.kubernetes.io/zone': 'a' } },
        spec: { podCIDRs: ['10.244.1.9/24', 'FD00::/64'] },
        status: {
          addresses: [
            { type: 'Hostname', address: 'n1' },
            { type: 'ExternalIP', address: '198.51.100.1' },
            { type: 'InternalIP', address: '192.0.2.4' },
            { type: 'InternalIP', address: 'fd00:1::4' },
          ],
        },
      }),
    ).toEqual({
      value: {
        name: 'n1.example',
        zone: 'a',
        ips: [parseAddress('192.0.2.4'), parseAddress('fd00:1::4')],
        furtherAddresses: [parseAddress('198.51.100.1')],
        podCIDRs: ['10.244.1.0/24', 'fd00::/64'],
        draining: false,
      },
      problems: [],
    });
  });

  it('has little when the Node says little', () => {
    expect(readNode({ metadata: { name: 'n1' } }).value).toEqual({
      name: 'n1',
      zone: '',
      ips: [],
      podCIDRs: [],
      draining: false,
    });
  });

  it.each([
    [{ metadata: { name: 'n1', deletionTimestamp: '2024-01-01T00:00:00Z' } }, true],
    [{ metadata: { name: 'n1', deletionTimestamp: null } }, false],
    [{ metadata: { name: 'n1' }, spec: { taints: [{ key: 'ToBeDeletedByClusterAutoscaler' }] } }, true],
    [{ metadata: { name: 'n1' }, spec: { taints: [{ key: 'node.kubernetes.io/unschedulable' }] } }, false],
  ])('draining: %j', (raw, draining) => {
    expect(readNode(raw).value?.draining).toBe(draining);
  });

  it('leaves out a pod CIDR that is none', () => {
    const { value, problems } = readNode({
      metadata: { name: 'n1' },
      spec: { podCIDRs: ['x', '10.0.0.0/8'] },
    });
    expect(value?.podCIDRs).toEqual(['10.0.0.0/8']);
    expect(problems).toEqual(['spec.podCIDRs[0] "x" is not a CIDR; ignored']);
  });

  it.each([
    ['metadata.name', { metadata: { name: 'A B' } }],
    ['metadata.labels', { metadata: { name: 'n1', labels: 'x' } }],
    [
      'label topology.kubernetes.io/zone',
      { metadata: { name: 'n1', labels: { 'topology.kubernetes.io/zone': 1 } } },
    ],
    ['spec.podCIDRs', { metadata: { name: 'n1' }, spec: { podCIDRs: '10.0.0.0/8' } }],
    ['spec.taints[0]', { metadata: { name: 'n1' }, spec: { taints: ['x'] } }],
    ['status', { metadata: { name: 'n1' }, status: 'x' }],
    ['status.addresses[0]', { metadata: { name: 'n1' }, status: { addresses: ['x'] } }],
    ['status.addresses[0].type', { metadata: { name: 'n1' }, status: { addresses: [{ type: 1 }] } }],
    [
      'status.addresses[0].address',
      { metadata: { name: 'n1' }, status: { addresses: [{ type: 'InternalIP', address: 1 }] } },
    ],
  ])('is rejected with its field: %s', (field, raw) => {
    const { value, problems } = readNode(raw);
    expect(value).toBeUndefined();
    expect(problems[0]).toContain(`${field} `);
  });
});

describe('readServiceCidr', () => {
  it('reads ranges, masked', () => {
    const { value } = readServiceCidr({
      metadata: { name: 'kubernetes' },
      spec: { cidrs: ['10.96.0.1/16', 'fd00:96::1/112'] },
    });
    expect(value?.name).toBe('kubernetes');
    expect([...serviceRanges([value!], 'IPv4'), ...serviceRanges([value!], 'IPv6')]).toEqual([
      '10.96.0.0/16',
      'fd00:96::/112',
    ]);
  });

  it('gives the ranges of a family sorted and once each', () => {
    const objects = [['10.96.0.0/16', 'fd00::/112'], ['10.100.0.0/16', '10.96.9.9/16'], []].map(
      (cidrs, index) => readServiceCidr({ metadata: { name: `r${index}` }, spec: { cidrs } }).value!,
    );
    expect(serviceRanges(objects, 'IPv4')).toEqual(['10.100.0.0/16', '10.96.0.0/16']);
    expect(serviceRanges(objects, 'IPv6')).toEqual(['fd00::/112']);
    expect(serviceRanges([], 'IPv4')).toEqual([]);
  });

  it.each([
    ['metadata.name', { spec: { cidrs: [] } }],
    ['spec.cidrs', { metadata: { name: 'a' }, spec: { cidrs: '10.0.0.0/8' } }],
    ['spec.cidrs[1]', { metadata: { name: 'a' }, spec: { cidrs: ['10.0.0.0/8', '10.0.0.0/99'] } }],
    ['spec', { metadata: { name: 'a' }, spec: 'x' }],
  ])('is rejected with its field: %s', (field, raw) => {
    const { value, problems } = readServiceCidr(raw);
    expect(value).toBeUndefined();
    expect(problems[0]?.split(' ')[0]).toBe(field);
  });
});
