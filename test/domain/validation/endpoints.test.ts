import type { RawObject } from '../../../src/domain/decode/fields.js';
import {
  nodeSchema,
  serviceCidrSchema,
  endpointSliceSchema,
  endpointsSchema,
} from '../../../src/domain/validation/object-schemas.js';
import { endpointSliceWithDefaults, nodeWithDefaults } from '../../../src/domain/validation/defaults.js';
import type { Schema } from '../../../src/domain/validation/schema.js';

const brokenFields = (schema: Schema, object: RawObject): readonly string[] => {
  const found: string[] = [];
  schema(object, '', (field) => found.push(field));
  return found;
};
const ofSlice = (rest: object): readonly string[] =>
  brokenFields(
    endpointSliceSchema,
    endpointSliceWithDefaults({ metadata: { name: 'web-1' }, addressType: 'IPv4', ...rest }),
  );
const ofSubset = (subset: object): readonly string[] =>
  brokenFields(endpointsSchema, { metadata: { name: 'web' }, subsets: [subset] });
const ofNode = (spec: object): readonly string[] =>
  brokenFields(nodeSchema, nodeWithDefaults({ metadata: { name: 'n1' }, spec, status: { anything: true } }));
const ofCidr = (spec?: object): readonly string[] =>
  brokenFields(serviceCidrSchema, { metadata: { name: 'c' }, ...(spec && { spec }) });

const address = ['10.0.0.1'];
const named = (count: number): object[] =>
  Array.from({ length: count }, (_, index) => ({ name: `n${index}` }));

describe('an EndpointSlice', () => {
  it.each<[string, object]>([
    ['nothing but a type', {}],
    ['ports without fields', { ports: [{}] }],
    ['ports without a number', { ports: [{ port: 0 }, { name: 'a', port: 70000 }] }],
    ['101 ports', { ports: named(101) }],
    ['no endpoints', { endpoints: null }],
    [
      'zones of any form',
      { endpoints: [{ addresses: address, zone: 'x y z', deprecatedTopology: { a: 'b c' } }] },
    ],
    [
      'hints',
      {
        endpoints: [
          { addresses: address, hints: { forZones: [{ name: 'a' }, { name: '' }], forNodes: named(8) } },
        ],
      },
    ],
    ['full domain names', { addressType: 'FQDN', endpoints: [{ addresses: ['a.b', 'a.b.', '10.0.0.1'] }] }],
  ])('may have %s', (_, rest) => {
    expect(ofSlice(rest)).toEqual([]);
  });

  it.each<[string, object]>([
    ['addressType', { addressType: 'ipv4' }],
    ['addressType', { addressType: '' }],
    ['addressType', { addressType: null }],
    ['ports[0].protocol', { ports: [{ protocol: '' }] }],
    ['ports[0].protocol', { ports: [{ protocol: 'tcp' }] }],
    ['ports[1].name', { ports: [{ name: 'a' }, { name: 'a' }] }],
    ['ports[1].name', { ports: [{}, {}] }],
    ['ports[0].name', { ports: [{ name: 'A' }] }],
    ['ports[0].appProtocol', { ports: [{ appProtocol: 'a b' }] }],
    ['ports', { ports: named(20_001) }],
    ['endpoints[0].addresses', { endpoints: [{}] }],
    ['endpoints[0].addresses', { endpoints: [null] }],
    [
      'endpoints[0].addresses',
      { endpoints: [{ addresses: Array.from({ length: 101 }, (_, n) => `10.0.0.${n + 1}`) }] },
    ],
    ['endpoints[0].addresses[0]', { endpoints: [{ addresses: ['fd00::1'] }] }],
    ['endpoints[0].addresses[0]', { endpoints: [{ addresses: ['10.0.0.01'] }] }],
    ['endpoints[0].addresses[0]', { endpoints: [{ addresses: [null] }] }],
    ['endpoints[0].addresses[0]', { addressType: 'IPv6', endpoints: [{ addresses: ['10.0.0.1'] }] }],
    ['endpoints[0].addresses[0]', { addressType: 'IPv6', endpoints: [{ addresses: ['FD00::1'] }] }],
    ['endpoints[0].addresses[0]', { addressType: 'IPv6', endpoints: [{ addresses: ['::ffff:10.0.0.1'] }] }],
    ['endpoints[0].addresses[0]', { addressType: 'FQDN', endpoints: [{ addresses: ['a'] }] }],
    ['endpoints[0].addresses[0]', { addressType: 'FQDN', endpoints: [{ addresses: ['a_.b'] }] }],
    ['endpoints[0].nodeName', { endpoints: [{ addresses: address, nodeName: '' }] }],
    ['endpoints[0].nodeName', { endpoints: [{ addresses: address, nodeName: 'A b' }] }],
    ['endpoints[0].hostname', { endpoints: [{ addresses: address, hostname: 'a.b' }] }],
    ['endpoints[0].conditions.ready', { endpoints: [{ addresses: address, conditions: { ready: 'x' } }] }],
    ['endpoints[0].topology', { endpoints: [{ addresses: address, topology: {} }] }],
    ['endpoints[0].targetRef.kind', { endpoints: [{ addresses: address, targetRef: { kind: 5 } }] }],
    ['endpoints[0].hints.forZones', { endpoints: [{ addresses: address, hints: { forZones: named(9) } }] }],
    ['endpoints[0].hints.forNodes', { endpoints: [{ addresses: address, hints: { forNodes: named(9) } }] }],
    [
      'endpoints[0].hints.forZones[1].name',
      { endpoints: [{ addresses: address, hints: { forZones: [{ name: 'a' }, { name: 'a' }] } }] },
    ],
    [
      'endpoints[0].hints.forNodes[1].name',
      { endpoints: [{ addresses: address, hints: { forNodes: [{ name: 'a' }, { name: 'a' }] } }] },
    ],
    [
      'endpoints[0].hints.forZones[0].name',
      { endpoints: [{ addresses: address, hints: { forZones: [{ name: 'a b' }] } }] },
    ],
    [
      'endpoints[0].hints.forNodes[0].name',
      { endpoints: [{ addresses: address, hints: { forNodes: [{}] } }] },
    ],
    ['endpoints', { endpoints: Array.from({ length: 1001 }, () => ({ addresses: address })) }],
    ['metadata.name', { metadata: { name: 'a..b' } }],
    ['foo', { foo: 1 }],
  ])('may not break the rule of %s (case %#)', (field, rest) => {
    expect(ofSlice(rest)).toEqual([field]);
  });

  it('may not have hints that repeat another', () => {
    const twice = [{ name: 'a' }, { name: 'a' }];
    const found: string[] = [];
    endpointSliceSchema(
      {
        metadata: { name: 'a' },
        addressType: 'IPv4',
        endpoints: [{ addresses: address, hints: { forZones: twice, forNodes: twice } }],
      },
      '',
      (field, text) => found.push(`${field} ${text}`),
    );
    const hints = 'endpoints[0].hints';
    expect(found).toEqual([
      `${hints}.forZones[1].name repeats the name of ${hints}.forZones[0]`,
      `${hints}.forNodes[1].name repeats the name of ${hints}.forNodes[0]`,
    ]);
  });

  it.each([
    ['0.0.0.0', 'the unspecified'],
    ['127.0.0.53', 'a loopback'],
    ['169.254.169.254', 'a link-local'],
    ['224.0.0.1', 'a link-local multicast'],
    ['::', 'the unspecified'],
    ['::1', 'a loopback'],
    ['fe80::1', 'a link-local'],
    ['febf::1', 'a link-local'],
    ['ff02::1', 'a link-local multicast'],
    ['ff12::1', 'a link-local multicast'],
  ])('may not lead to %s', (special, what) => {
    const addressType = special.includes(':') ? 'IPv6' : 'IPv4';
    const found: string[] = [];
    endpointSliceSchema(
      { metadata: { name: 'a' }, addressType, endpoints: [{ addresses: [special] }] },
      '',
      (field, text) => found.push(`${field} ${text}`),
    );
    expect(found).toEqual([`endpoints[0].addresses[0] "${special}" is ${what} address`]);
  });

  it.each([
    '10.0.0.0',
    '128.0.0.1',
    '169.253.0.1',
    '224.0.1.1',
    '239.1.1.1',
    '::2',
    'fec0::1',
    'fe::1',
    'ff05::2',
    'ff2::1',
  ])('may lead to %s', (usual) => {
    const addressType = usual.includes(':') ? 'IPv6' : 'IPv4';
    expect(ofSlice({ addressType, endpoints: [{ addresses: [usual] }] })).toEqual([]);
  });
});

describe('Endpoints', () => {
  const addresses = [{ ip: '10.0.0.1' }];

  it('may have ports of one name', () => {
    expect(
      ofSubset({
        addresses,
        ports: [
          { port: 1, name: 'a' },
          { port: 2, name: 'a', protocol: '' },
        ],
      }),
    ).toEqual([]);
    expect(brokenFields(endpointsSchema, { metadata: { name: 'web' }, subsets: [] })).toEqual([]);
  });

  it.each<[readonly string[], object]>([
    [['subsets[0]'], {}],
    [['subsets[0]'], { ports: [{ port: 1 }] }],
    [['subsets[0].addresses[0].ip'], { addresses: [{}] }],
    [['subsets[0].addresses[0].ip'], { addresses: [{ ip: '127.0.0.1' }] }],
    [['subsets[0].notReadyAddresses[0].ip'], { notReadyAddresses: [{ ip: '::ffff:10.0.0.1' }] }],
    [['subsets[0].addresses[0].nodeName'], { addresses: [{ ip: '10.0.0.1', nodeName: '' }] }],
    [['subsets[0].addresses[0].hostname'], { addresses: [{ ip: '10.0.0.1', hostname: 'a.b' }] }],
    [['subsets[0].ports[0].port'], { addresses, ports: [{}] }],
    [['subsets[0].ports[0].protocol'], { addresses, ports: [{ port: 1, protocol: 'x' }] }],
    [
      ['subsets[0].ports[0].name', 'subsets[0].ports[1].name'],
      { addresses, ports: [{ port: 1 }, { port: 2 }] },
    ],
  ])('break the rules of %j', (fields, subset) => {
    expect(ofSubset(subset)).toEqual(fields);
  });
});

it('a ServiceCIDR has a network of each family at most', () => {
  expect(ofCidr({ cidrs: ['10.1.0.0/16', 'fd00::/64'] })).toEqual([]);
  expect(ofCidr()).toEqual(['spec.cidrs']);
  expect(ofCidr({ cidrs: [] })).toEqual(['spec.cidrs']);
  expect(ofCidr({ cidrs: ['10.1.0.1/16'] })).toEqual(['spec.cidrs[0]']);
  expect(ofCidr({ cidrs: ['FD00::/112'] })).toEqual(['spec.cidrs[0]']);
  expect(ofCidr({ cidrs: ['10.1.0.0/16', '10.2.0.0/16'] })).toEqual(['spec.cidrs[1]']);
});

it('a Node has such networks too, and the first is that of podCIDR', () => {
  expect(
    ofNode({ podCIDR: '10.1.0.0/24', podCIDRs: ['10.2.0.0/24', '10.3.0.0/24'], providerID: 'x' }),
  ).toEqual([]);
  expect(ofNode({ podCIDR: 'x' })).toEqual(['spec.podCIDR', 'spec.podCIDRs[0]']);
  expect(ofNode({ podCIDR: '10.1.0.0/24', podCIDRs: [5] })).toEqual(['spec.podCIDRs[0]']);
  expect(ofNode({ podCIDRs: ['10.2.0.1/24'] })).toEqual(['spec.podCIDRs[0]']);
  expect(ofNode({ taints: [{}] })).toEqual(['spec.taints[0].key', 'spec.taints[0].effect']);
  expect(nodeWithDefaults({ spec: { podCIDR: '10.1.0.0/24' } })).toEqual({
    spec: { podCIDR: '10.1.0.0/24', podCIDRs: ['10.1.0.0/24'] },
  });
});
