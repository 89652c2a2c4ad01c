import { parseCidr } from '../../../src/domain/net/cidr.js';
import { nodePortAddressesOf, nodePortIPs } from '../../../src/domain/node/node-port-addresses.js';

const cidrs = (...texts: readonly string[]) => texts.map((text) => parseCidr(text)!);

describe('nodePortAddressesOf (docs/spec/model.md §7)', () => {
  it('keeps the CIDRs of the family', () => {
    const list = ['10.0.0.0/8', 'fd00::/64', '192.168.0.1/24'];
    expect(nodePortAddressesOf('IPv4', list)).toEqual({
      matchAll: false,
      cidrs: cidrs('10.0.0.0/8', '192.168.0.0/24'),
      containsIPv4Loopback: false,
    });
    expect(nodePortAddressesOf('IPv6', list)).toEqual({
      matchAll: false,
      cidrs: cidrs('fd00::/64'),
      containsIPv4Loopback: false,
    });
  });

  it('a family without an entry answers everywhere', () => {
    expect(nodePortAddressesOf('IPv6', ['10.0.0.0/8'])).toEqual({
      matchAll: true,
      containsIPv4Loopback: false,
    });
    expect(nodePortAddressesOf('IPv4', ['fd00::/64'])).toEqual({
      matchAll: true,
      containsIPv4Loopback: true,
    });
    expect(nodePortAddressesOf('IPv4', [])).toEqual({ matchAll: true, containsIPv4Loopback: true });
  });

  it('a prefix of length 0 matches all, whatever else the list has', () => {
    expect(nodePortAddressesOf('IPv4', ['10.0.0.0/8', '0.0.0.0/0', '127.0.0.0/8'])).toEqual({
      matchAll: true,
      containsIPv4Loopback: true,
    });
    expect(nodePortAddressesOf('IPv6', ['::1/128', '::/0'])).toEqual({
      matchAll: true,
      containsIPv4Loopback: false,
    });
  });

  it.each([
    [['127.0.0.0/8'], true],
    [['127.3.4.5/32'], true],
    [['64.0.0.0/2'], true],
    [['10.0.0.0/8', '127.0.0.1/32'], true],
    [['10.0.0.0/8', '128.0.0.0/1'], false],
  ])('%j contains IPv4 loopback: %s', (list, expected) => {
    expect(nodePortAddressesOf('IPv4', list).containsIPv4Loopback).toBe(expected);
  });
});

describe('nodePortIPs', () => {
  const local = [
    '127.0.0.1',
    '10.0.0.1',
    '10.0.0.2',
    '10.0.0.1',
    '192.168.0.1',
    '::1',
    'FD00:0::1',
    'fe80::1',
    'x',
  ];

  it('picks the local addresses inside the CIDRs once each', () => {
    expect(nodePortIPs(cidrs('10.0.0.0/8', '10.0.0.0/30'), local)).toEqual({
      ips: ['10.0.0.1', '10.0.0.2'],
      loopback: [],
    });
    expect(nodePortIPs(cidrs('fd00::/64'), local)).toEqual({ ips: ['fd00::1'], loopback: [] });
  });

  it('reports loopback addresses apart', () => {
    expect(nodePortIPs(cidrs('127.0.0.0/8', '10.0.0.2/32'), local)).toEqual({
      ips: ['10.0.0.2'],
      loopback: ['127.0.0.1'],
    });
    expect(nodePortIPs(cidrs('::1/128'), local)).toEqual({ ips: [], loopback: ['::1'] });
  });
});
