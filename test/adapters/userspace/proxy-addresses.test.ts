import type { HostNetwork } from '../../../src/adapters/userspace/host-network.js';
import { proxyAddresses } from '../../../src/adapters/userspace/proxy-addresses.js';
import { IP_FAMILIES } from '../../../src/domain/net/ip-family.js';

const eth0 = { interfaceName: 'eth0', pointToPoint: false };
const host: HostNetwork = {
  addresses: [
    { ...eth0, family: 'IPv4', text: '192.0.2.4' },
    { ...eth0, family: 'IPv6', text: '2001:db8::4' },
  ],
  defaultRoutes: () => ['eth0'],
};

describe('proxyAddresses', () => {
  it.each(['0.0.0.0', '::'])('serves every family, with an address or before it has one, with %s', (bind) => {
    expect([...proxyAddresses(bind, IP_FAMILIES, host)]).toEqual([
      ['IPv4', { listen: undefined, host: '192.0.2.4' }],
      ['IPv6', { listen: undefined, host: '2001:db8::4' }],
    ]);
    expect([...proxyAddresses(bind, ['IPv6'], host).keys()]).toEqual(['IPv6']);
    const poor = { ...host, addresses: host.addresses.slice(0, 1) };
    expect([...proxyAddresses(bind, IP_FAMILIES, poor)]).toEqual([
      ['IPv4', { listen: undefined, host: '192.0.2.4' }],
      ['IPv6', { listen: undefined, host: undefined }],
    ]);
  });

  it('serves the family of the address that it is given, which need not be there yet', () => {
    expect([...proxyAddresses('198.51.100.9', IP_FAMILIES, host)]).toEqual([
      ['IPv4', { listen: '198.51.100.9', host: '198.51.100.9' }],
    ]);
  });

  it('says what cannot be', () => {
    for (const bind of ['127.0.0.1', '::1'])
      expect(() => proxyAddresses(bind, IP_FAMILIES, host)).toThrow('cannot proxy on localhost');
    expect(() => proxyAddresses('2001:db8::9', ['IPv4'], host)).toThrow('IPv6 cannot be served');
  });
});
