import {
  parseDestinationName,
  placeOf,
  withoutNames,
  type ClusterPlace,
} from '../../../../src/diagnostics/application/trace/named-ends.js';

const place = (service: string, port: string, number: number, more: Partial<ClusterPlace> = {}) => ({
  ...{ service, port, number, protocol: 'TCP', family: 'IPv4', address: '10.96.0.1' },
  ...more,
});
const six = { family: 'IPv6', address: 'fd00::1' } as const;
const places = [
  place('shop/cart', 'http', 80),
  place('shop/cart', 'admin', 8080),
  place('shop/cart', 'http', 80, six),
  place('shop/cart', 'admin', 8080, six),
  place('a/web', '', 443),
  place('b/web', '', 443),
  place('kube-system/dns', 'dns', 53, { protocol: 'UDP' }),
  place('kube-system/dns', 'dns-tcp', 53),
] as readonly ClusterPlace[];
const found = (text: string, family?: 'IPv4' | 'IPv6') =>
  placeOf(parseDestinationName(text)!, places, family);

it.each(['10.96.0.1:80', '[fd00::1]:80', 'fd00::1', 'shop/cart:http/icmp', 'a/b/c', '10.96.0.1', ''])(
  '%j is no name',
  (text) => {
    expect(parseDestinationName(text)).toBeUndefined();
  },
);

it.each([
  ['cart:http', 'shop/cart', 80],
  ['shop/cart:admin', 'shop/cart', 8080],
  ['shop/cart:8080', 'shop/cart', 8080],
  ['b/web', 'b/web', 443],
  ['dns:53/udp', 'kube-system/dns', 53],
  ['kube-system/dns:dns-tcp/TCP', 'kube-system/dns', 53],
])('%s leads to %s, port %i', (text, service, number) => {
  expect(found(text)).toMatchObject({ service, number });
});

it('is in the namespace that is given, unless it names one itself', () => {
  expect(parseDestinationName('web', 'b')).toEqual({ service: 'b/web' });
  expect(parseDestinationName('a/web:80', 'b')).toEqual({ service: 'a/web', port: '80' });
});

it('leads to an address of the family of who sends', () => {
  expect(found('cart:http', 'IPv6').address).toBe('fd00::1');
  expect(found('cart:http', 'IPv4').address).toBe('10.96.0.1');
});

it.each([
  ['nosuch', 'no Service nosuch has a cluster IP here'],
  ['web', 'a/web and b/web are called web; name one with its namespace'],
  ['cart', 'shop/cart has the ports http/tcp, admin/tcp; name one'],
  ['cart:https', 'shop/cart has no such port; it has http/tcp, admin/tcp'],
  ['dns:53', 'kube-system/dns has the ports dns/udp, dns-tcp/tcp; name one'],
])('%s is not clear: %s', (text, message) => {
  expect(() => found(text)).toThrow(message);
});

it('says that a Service has no address of a family', () => {
  expect(() => found('b/web', 'IPv6')).toThrow('b/web has no cluster IP of IPv6');
});

it.each(['service/cart:http', 'svc/cart:http', 'services/shop/cart:http'])('%s names a Service', (text) => {
  expect(found(text)).toMatchObject({ service: 'shop/cart', number: 80 });
});

it('has the reason of the verdict on a Service that has no cluster IP', async () => {
  const names = {
    places: () => Promise.resolve(places),
    pods: () => Promise.resolve([]),
    reason: (service: string) => Promise.resolve(`there is no Service ${service}`),
  };
  const trace = (to: string) =>
    withoutNames({ from: { kind: 'node' }, to: parseDestinationName(to)! }, names);
  await expect(trace('shop/none')).rejects.toThrow('shop/none: there is no Service shop/none');
  await expect(trace('none')).rejects.toThrow('no Service none has a cluster IP here');
  expect(await trace('b/web')).toMatchObject({ port: 443 });
});
