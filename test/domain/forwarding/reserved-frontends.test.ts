import { reservedFrontends, type ReservedPlaces } from '../../../src/domain/forwarding/reserved-frontends.js';

const PLACES: ReservedPlaces = {
  listeners: [
    { address: '0.0.0.0', port: 10256, name: 'health' },
    { address: '127.0.0.1', port: 10249, name: 'metrics' },
  ],
  apiServers: [
    { address: '192.0.2.9', port: 6443 },
    { address: '::ffff:192.0.2.8', port: 443 },
    { address: '2001:db8::9', port: 6443 },
    { address: '127.0.0.1', port: 7443 },
  ],
  localAddresses: ['127.0.0.1', '::1', '192.0.2.1', '10.244.0.1', 'fe80::1', '2001:db8::1'],
  localhostNodePorts: false,
};

it('reserved are the ports of the proxy at all addresses of the machine, and the API server as it is used', () => {
  expect(reservedFrontends('IPv4', PLACES)).toEqual({
    '192.0.2.1:10256/TCP': 'health',
    '10.244.0.1:10256/TCP': 'health',
    'node port 10256/TCP': 'health',
    '192.0.2.9:6443/TCP': 'the API server that this proxy uses',
    '192.0.2.8:443/TCP': 'the API server that this proxy uses',
  });
  expect(reservedFrontends('IPv6', PLACES)).toEqual({
    '[2001:db8::1]:10256/TCP': 'health',
    'node port 10256/TCP': 'health',
    '[2001:db8::9]:6443/TCP': 'the API server that this proxy uses',
  });
});

it('in IPVS mode all ports of an address of the API server are reserved, unless the node has that address', () => {
  const server = 'the API server that this proxy uses (IPVS mode: with all ports of the address)';
  const addressesOf = (family: 'IPv4' | 'IPv6', nodeAddresses: readonly string[]) =>
    Object.entries(reservedFrontends(family, { ...PLACES, nodeAddresses })).filter(
      ([name]) => !name.includes('/'),
    );
  expect(addressesOf('IPv4', ['192.0.2.1', '192.0.2.8'])).toEqual([['192.0.2.9', server]]);
  expect(addressesOf('IPv6', [])).toEqual([['2001:db8::9', server]]);
});

it('a listener on loopback is kept from node ports where these are served there', () => {
  expect(reservedFrontends('IPv4', { ...PLACES, localhostNodePorts: true })).toMatchObject({
    'node port 10249/TCP': 'metrics',
  });
});

it('a listener on one address is reserved there, and from node ports', () => {
  const listeners = [{ address: '192.0.2.1', port: 10249, name: 'metrics' }];
  expect(reservedFrontends('IPv4', { ...PLACES, listeners, apiServers: [] })).toEqual({
    '192.0.2.1:10249/TCP': 'metrics',
    'node port 10249/TCP': 'metrics',
  });
});
