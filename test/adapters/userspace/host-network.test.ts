import { parseAddress } from '../../../src/domain/net/address.js';
import {
  chooseHostAddress,
  type InterfaceAddress,
  type HostNetwork,
  hostAddress,
  listenAddresses,
} from '../../../src/adapters/userspace/host-network.js';
import { IP_FAMILIES } from '../../../src/domain/net/ip-family.js';

const on = (interfaceName: string, text: string, pointToPoint = false): InterfaceAddress => ({
  ...parseAddress(text)!,
  interfaceName,
  pointToPoint,
});
const MACHINE = [
  on('lo', '127.0.0.1'),
  on('tun0', '10.8.0.1', true),
  on('eth0', '169.254.1.1'),
  on('eth0', '192.0.2.4'),
  on('eth1', '198.51.100.7'),
  on('eth0', 'fe80::1'),
  on('eth0', '2001:db8::4'),
];

describe('chooseHostAddress', () => {
  it('takes the first usable address of an interface with a default route', () => {
    expect(chooseHostAddress(MACHINE, ['eth1', 'eth0'], 'IPv4')).toBe('198.51.100.7');
    expect(chooseHostAddress(MACHINE, ['eth0'], 'IPv4')).toBe('192.0.2.4');
    expect(chooseHostAddress(MACHINE, ['eth0'], 'IPv6')).toBe('2001:db8::4');
    expect(chooseHostAddress(MACHINE, ['tun0'], 'IPv4')).toBe('10.8.0.1');
  });

  it('takes any other one where no default route leads to one', () => {
    expect(chooseHostAddress(MACHINE, [], 'IPv4')).toBe('192.0.2.4');
    expect(chooseHostAddress(MACHINE, ['gone'], 'IPv6')).toBe('2001:db8::4');
  });

  it('takes none that only this machine or this link knows', () => {
    const poor = [on('lo', '127.0.0.1'), on('eth0', 'fe80::1'), on('eth0', '169.254.1.1'), on('lo', '::1')];
    expect(chooseHostAddress(poor, ['eth0'], 'IPv4')).toBeUndefined();
    expect(chooseHostAddress(poor, ['eth0'], 'IPv6')).toBeUndefined();
    expect(chooseHostAddress([on('tun0', '10.8.0.1', true)], [], 'IPv4')).toBeUndefined();
  });
});

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
