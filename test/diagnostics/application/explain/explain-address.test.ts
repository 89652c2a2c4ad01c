import { addressExplanationLines } from '../../../../src/diagnostics/adapters/cli/commands/explain.js';
import {
  parseSubject,
  type AddressSubject,
} from '../../../../src/diagnostics/application/explain/explain-address.js';
import { rawService, rawSlice } from '../../../support/objects.js';
import { SeenCluster } from '../../../support/seen-cluster.js';
import type { NodeNetwork } from '../../../../src/domain/forwarding/node-network.js';
import { shownLines } from '../../../support/shown-lines.js';

const addressExplanationText = (...args: Parameters<typeof addressExplanationLines>): string =>
  shownLines(addressExplanationLines(...args));

const cart = rawService({
  type: 'LoadBalancer',
  clusterIPs: ['10.96.7.1', 'fd00:96::71'],
  ipFamilies: ['IPv4', 'IPv6'],
  externalIPs: ['198.51.100.7'],
  externalTrafficPolicy: 'Local',
  healthCheckNodePort: 32111,
  ports: [
    { name: 'http', port: 80, nodePort: 30080 },
    { name: 'dns', port: 53, protocol: 'UDP', nodePort: 30080 },
  ],
});
const slice = rawSlice({
  ports: [
    { name: 'http', port: 8080 },
    { name: 'admin', port: 9000 },
  ],
  endpoints: [
    { addresses: ['10.244.1.5'], nodeName: 'n1' },
    { addresses: ['10.244.1.6'], conditions: { ready: false } },
  ],
});
const other = rawService(
  { clusterIP: '10.96.7.2', ports: [{ name: 'http', port: 80 }] },
  { metadata: { namespace: 'shop', name: 'other' } },
);
const shared = rawSlice(
  { ports: [{ name: 'http', port: 8080 }], endpoints: [{ addresses: ['10.244.1.5'] }] },
  { name: 'other-1', labels: { 'kubernetes.io/service-name': 'other' } },
);

const cluster = (mode?: string) =>
  new SeenCluster({ ...(mode !== undefined && { mode }) }).deliver([cart, other], [slice, shared]);
const explained = (text: string, mode?: string) =>
  cluster(mode).addresses.address(parseSubject(text) as AddressSubject);
const inShort = (text: string) => {
  const { frontends, endpoints } = explained(text);
  return [
    ...frontends.map(({ service, portName, family, kind }) => `${service}:${portName} ${family} ${kind}`),
    ...endpoints.map(
      ({ service, portName, port, used }) => `${service}:${portName} ${port} ${used ? 'used' : 'not used'}`,
    ),
  ];
};

describe('ExplainAddress', () => {
  it.each([
    ['10.96.7.1', ['shop/cart:http IPv4 cluster-ip', 'shop/cart:dns IPv4 cluster-ip']],
    ['10.96.7.1:80', ['shop/cart:http IPv4 cluster-ip']],
    ['10.96.7.1:53/udp', ['shop/cart:dns IPv4 cluster-ip']],
    ['10.96.7.1:53/tcp', []],
    ['[fd00:96::71]:80', ['shop/cart:http IPv6 cluster-ip']],
    ['198.51.100.7:80', ['shop/cart:http IPv4 external-ip']],
    [
      '30080',
      [
        'shop/cart:http IPv4 node-port',
        'shop/cart:dns IPv4 node-port',
        'shop/cart:http IPv6 node-port',
        'shop/cart:dns IPv6 node-port',
      ],
    ],
    ['192.0.2.4:30080/tcp', ['shop/cart:http IPv4 node-port']],
    ['192.0.2.5:30080/tcp', []],
    ['80', []],
    ['10.244.1.5', ['shop/cart:http 8080 used', 'shop/other:http 8080 used']],
    ['10.244.1.6:8080', ['shop/cart:http 8080 not used']],
    ['10.244.1.6:8080/udp', []],
  ])('finds whose %s is', (text, found) => {
    expect(inShort(text)).toEqual(found);
    expect(explained(text).otherwise === undefined).toBe(found.length > 0);
  });

  it.each([
    [
      '10.96.7.1:81',
      undefined,
      /cluster-ip of shop\/cart, which has only the ports 80\/TCP, 53\/UDP there; .* rejected$/,
    ],
    ['10.96.7.1:81', 'iptables', /routed as any others$/],
    ['198.51.100.7:81', undefined, /external-ip of shop\/cart, .* routed as any others$/],
    [
      '10.97.1.1',
      undefined,
      /in the service range 10\.96\.0\.0\/12, but no Service has it; packets to it are dropped$/,
    ],
    ['10.97.1.1:80', 'iptables', /in the service range .* routed as any others$/],
    [
      '8.8.8.8:53/udp',
      undefined,
      /^no Service and no EndpointSlice has this address; .* routed as any others$/,
    ],
    ['30081/tcp', undefined, /^no Service has this node port; /],
    ['32111', undefined, /^it is the health-check node port of shop\/cart/],
    ['10.244.1.5:9000', undefined, /^EndpointSlices of shop\/cart list it, but no served port/],
  ])('says what %s is otherwise in mode %s', (text, mode, otherwise) => {
    expect(explained(text, mode)).toMatchObject({ frontends: [], endpoints: [] });
    expect(explained(text, mode).otherwise).toMatch(otherwise);
  });

  it.each<[string, Partial<NodeNetwork>, RegExp]>([
    ['127.0.0.1:30080', {}, /^no Service and no EndpointSlice has this address/],
    [
      '127.0.0.1:30080/tcp',
      { loopbackNodePorts: 'rejected' },
      /^it is the node port 30080\/TCP of shop\/cart; node ports are rejected on loopback addresses$/,
    ],
    [
      '127.0.0.1:30080/udp',
      { loopbackNodePorts: 'relayed' },
      /^it is the node port 30080\/UDP of shop\/cart; node ports are rejected/,
    ],
    ['127.0.0.2:30080/tcp', { loopbackNodePorts: 'relayed' }, /^no Service and no EndpointSlice/],
    ['127.0.0.1:80', { loopbackNodePorts: 'rejected' }, /^no Service and no EndpointSlice/],
    ['192.0.2.9:30080', { loopbackNodePorts: 'rejected' }, /^no Service and no EndpointSlice/],
  ])('says of %s on a node with %j what becomes of node ports there', (text, node, otherwise) => {
    const { addresses } = new SeenCluster({ node }).deliver([cart, other], [slice, shared]);
    const found = addresses.address(parseSubject(text) as AddressSubject);
    expect(found).toMatchObject({ frontends: [], otherwise: expect.stringMatching(otherwise) as string });
  });

  it('finds node ports on loopback addresses where mode iptables serves them', () => {
    const node = { localhostNodePorts: true };
    const { addresses } = new SeenCluster({ mode: 'iptables', node }).deliver([cart], [slice]);
    const { frontends } = addresses.address(parseSubject('127.0.0.1:30080/tcp') as AddressSubject);
    expect(frontends).toMatchObject([{ portName: 'http', kind: 'node-port' }]);
  });

  it.each([
    ['192.0.2.9:30080/tcp', ['http']],
    ['192.0.2.4:30080/tcp', []],
  ])('finds node ports only at the addresses that serve them: %s', (text, found) => {
    const { addresses } = new SeenCluster({ node: { nodePortIPs: ['192.0.2.9'] } }).deliver([cart], [slice]);
    const { frontends } = addresses.address(parseSubject(text) as AddressSubject);
    expect(frontends.map(({ portName }) => portName)).toEqual(found);
  });

  it('says nothing about the absent before everything is listed', () => {
    const early = cluster();
    early.isListed = false;
    expect(early.addresses.address({ kind: 'address', port: 30081 }).otherwise).toMatch(/^not all objects/);
    expect(early.addresses.address({ kind: 'address', port: 30080 }).otherwise).toBeUndefined();
  });

  it('is text for people', () => {
    expect(addressExplanationText(explained('10.96.7.1:80/tcp'))).toBe(`10.96.7.1:80/TCP
  frontend of shop/cart, port http TCP, IPv4: programmed 1970-01-01T00:00:00.001Z
    cluster-ip 10.96.7.1:80 (Cluster): forward, to 1 endpoint
`);
    expect(addressExplanationText(explained('10.244.1.6'))).toBe(`10.244.1.6
  endpoint of shop/cart, port http TCP, IPv4
    endpoint 10.244.1.6:8080: not ready, not used
`);
    expect(addressExplanationText(explained('10.97.1.1'))).toBe(
      '10.97.1.1\n  it is in the service range 10.96.0.0/12, but no Service has it; packets to it are dropped\n',
    );
  });
});

it('knows the node ports on localhost that the proxy itself listens for', async () => {
  const seen = cluster();
  const at = (text: string) => {
    const { frontends } = seen.addresses.address(parseSubject(text) as AddressSubject);
    return frontends.map(({ family, portName }) => `${family} ${portName}`);
  };
  expect(at('127.0.0.1:30080')).toEqual([]);
  seen.localhost.set('IPv4 shop/cart/tcp/http', '127.0.0.1:30080');
  expect(at('127.0.0.1:30080')).toEqual(['IPv4 http']);
  expect(at('[::1]:30080')).toEqual(['IPv6 http']);
  expect(at('127.0.0.2:30080')).toEqual([]);
  const { families } = await seen.explain.service('shop/cart');
  const reasons = families.map(({ ports }) => ports[0]!.frontends.map(({ reason }) => reason));
  expect(reasons[0]!.filter((reason) => reason.includes('listens'))).toEqual([
    'to 1 endpoint on the node; the proxy itself listens on 127.0.0.1:30080',
  ]);
  expect(reasons[1]!.filter((reason) => reason.includes('listens'))).toEqual([]);
});
