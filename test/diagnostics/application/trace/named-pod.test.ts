import {
  parsePodName,
  parsePodPort,
  placesIn,
  podAddress,
  podsIn,
  type KnownPod,
} from '../../../../src/diagnostics/application/trace/named-ends.js';
import { CannotTraceError } from '../../../../src/diagnostics/application/trace/trace-packets.js';
import { rawService, rawSlice } from '../../../support/objects.js';
import { SeenCluster } from '../../../support/seen-cluster.js';

const pod = (name: string, ips: readonly string[], phase = 'Running'): KnownPod => ({
  pod: name,
  phase,
  ips,
});
const both = pod('shop/cart-0', ['10.244.1.5', 'fd00:244::5']);

it.each([
  ['pod/cart-0', undefined, 'cart-0'],
  ['pod/cart-0', 'shop', 'shop/cart-0'],
  ['pod/shop/cart-0', undefined, 'shop/cart-0'],
  ['pod/shop/cart-0', 'other', 'shop/cart-0'],
  ['shop/cart-0', 'other', 'shop/cart-0'],
  ['po/cart-0', undefined, 'cart-0'],
  ['pods/cart-0', 'shop', 'shop/cart-0'],
])('%s in the namespace %s is the pod %s', (text, namespace, name) => {
  expect(parsePodName(text, namespace)).toEqual({ pod: name });
});

it.each([
  'cart-0',
  'pod/',
  'pod',
  'pod/a/b/c',
  'a/b/c',
  'Shop/a',
  '10.0.0.0/8',
  'pod/A',
  'pod/a:80',
  'pod//a',
  'pod/a/',
  'pod/..',
])('%j names no pod', (text) => {
  expect(parsePodName(text)).toBeUndefined();
});

it.each([
  ['pod/cart-0:80', undefined, { pod: 'cart-0', port: 80, protocol: 'TCP' }],
  ['pod/cart-0:53/udp', 'shop', { pod: 'shop/cart-0', port: 53, protocol: 'UDP' }],
  ['pod/shop/cart-0:53/SCTP', undefined, { pod: 'shop/cart-0', port: 53, protocol: 'SCTP' }],
  // A name alone is that of a Service.
  ['shop/cart-0:80', undefined, undefined],
  ['pod/cart-0', undefined, undefined],
  ['pod/cart-0:0', undefined, undefined],
  ['pod/cart-0:65536', undefined, undefined],
  ['pod/cart-0:80/icmp', undefined, undefined],
])('the destination %s in the namespace %s is %j', (text, namespace, destination) => {
  expect(parsePodPort(text, namespace)).toEqual(destination);
});

it('has the address of the family that is asked for, or else its first', () => {
  const named = { pod: 'cart-0' };
  expect(podAddress(named, [both]).text).toBe('10.244.1.5');
  expect(podAddress(named, [both], 'IPv4').text).toBe('10.244.1.5');
  expect(podAddress(named, [both], 'IPv6').text).toBe('fd00:244::5');
});

it.each([
  [[], 'there is no pod cart-0'],
  [[both, pod('a/cart-0', [])], 'shop/cart-0 and a/cart-0 are called cart-0; name one with its namespace'],
  [[pod('shop/cart-0', [], 'Pending')], 'the pod shop/cart-0 has no address yet (Pending)'],
  [[pod('shop/cart-0', ['fd00::5'], 'Succeeded')], 'the pod shop/cart-0 has ended (Succeeded)'],
  [[pod('shop/cart-0', ['fd00::5'], 'Failed')], 'the pod shop/cart-0 has ended (Failed)'],
  [[pod('shop/cart-0', ['10.244.1.5'])], 'the pod shop/cart-0 has no IPv6 address'],
])('%j: %s', (known, message) => {
  const finding = (): unknown => podAddress({ pod: 'cart-0' }, known, 'IPv6');
  expect(finding).toThrow(CannotTraceError);
  expect(finding).toThrow(message);
});

describe('a proxy', () => {
  const service = (name: string, clusterIP: string) =>
    rawService({ clusterIP }, { metadata: { namespace: 'shop', name } });
  const slice = (name: string, pod: string, ...addresses: readonly string[]) =>
    rawSlice(
      {
        endpoints: addresses.map((address) => ({
          addresses: [address],
          targetRef: { kind: 'Pod', namespace: 'shop', name: pod },
        })),
      },
      { namespace: 'shop', name: `${name}-1`, labels: { 'kubernetes.io/service-name': name } },
    );
  const { state, loops } = new SeenCluster().deliver(
    [service('web', '10.96.0.1'), service('api', '10.96.0.2')],
    [slice('web', 'web-1', '10.1.1.1'), slice('api', 'web-1', '10.1.1.1', '10.1.1.2')],
  );

  it.each(['web-1', 'shop/web-1'])('knows the pod %s from the endpoints', (pod) => {
    expect(podsIn(state, { pod })).toEqual([
      { pod: 'shop/web-1', phase: 'Running', ips: ['10.1.1.1', '10.1.1.2'] },
    ]);
  });

  it.each(['web', 'other/web-1'])('does not know the pod %s', (pod) => {
    expect(() => podsIn(state, { pod })).toThrow(`no endpoint of a Service is the pod ${pod}`);
  });

  it('knows the cluster IPs of its Services', () => {
    expect(placesIn(loops).map(({ service, address }) => [service, address])).toEqual([
      ['shop/web', '10.96.0.1'],
      ['shop/api', '10.96.0.2'],
    ]);
  });
});
