import {
  type HostNetwork,
  hostAddress,
  listenAddresses,
} from '../../../src/adapters/userspace/host-network.js';
import { IP_FAMILIES } from '../../../src/domain/net/ip-family.js';

describe('listenAddresses', () => {
  it.each(['0.0.0.0', '::'])('are all of every family, with %s', (bind) => {
    expect([...listenAddresses(bind, IP_FAMILIES)]).toEqual([
      ['IPv4', undefined],
      ['IPv6', undefined],
    ]);
    expect([...listenAddresses(bind, ['IPv6'])]).toEqual([['IPv6', undefined]]);
  });

  it('are the one that is given, which need not be there yet', () => {
    expect([...listenAddresses('198.51.100.9', IP_FAMILIES)]).toEqual([['IPv4', '198.51.100.9']]);
  });

  it('say what cannot be', () => {
    for (const bind of ['127.0.0.1', '::1'])
      expect(() => listenAddresses(bind, IP_FAMILIES)).toThrow('cannot proxy on localhost');
    expect(() => listenAddresses('2001:db8::9', ['IPv4'])).toThrow('IPv6 cannot be served');
  });
});

it('a machine is known by an address of an interface with a default route, or by none', () => {
  const eth0 = { interfaceName: 'eth0', pointToPoint: false };
  const host: HostNetwork = {
    addresses: [{ ...eth0, family: 'IPv4', text: '192.0.2.4' }],
    defaultRoutes: () => ['eth0'],
  };
  expect(hostAddress('IPv4', host)).toBe('192.0.2.4');
  expect(hostAddress('IPv6', host)).toBeUndefined();
});
