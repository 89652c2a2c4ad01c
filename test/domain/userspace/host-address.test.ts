import { parseAddress } from '../../../src/domain/net/address.js';
import { chooseHostAddress, type InterfaceAddress } from '../../../src/adapters/userspace/host-network.js';

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
