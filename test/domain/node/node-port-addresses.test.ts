import { parseCidr } from '../../../src/domain/net/cidr.js';
import { parseAddress } from '../../../src/domain/net/address.js';
import {
  selectNodeAddresses,
  expandNodePortAddresses,
  nodePortAddressesOf,
  nodePortIPs,
} from '../../../src/domain/node/node-addresses.js';
const cidrs = (...texts: readonly string[]) => texts.map((text) => parseCidr(text)!);

describe('expandNodePortAddresses (docs/internals/spec/changes-1.37.md §1, §3)', () => {
  const node = (...texts: readonly string[]) =>
    selectNodeAddresses(
      texts.map((text) => parseAddress(text)!),
      '::',
    );
  const LOCALHOST = ['127.0.0.0/8', '::1/128'];
  const ALL = ['0.0.0.0/0', '::/0'];

  it.each([
    [['primary'], ['10.1.1.1', 'fd00::1'], ['10.1.1.1/32', 'fd00::1/128']],
    [['primary'], ['fd00::1', '10.1.1.1'], ['10.1.1.1/32', 'fd00::1/128']],
    [['primary'], ['fd00::1'], ['fd00::1/128']],
    [['primary'], [], []],
    [['localhost'], [], LOCALHOST],
    [['all'], [], ALL],
    [['primary', 'localhost'], ['10.1.1.1'], ['10.1.1.1/32', ...LOCALHOST]],
    [
      ['10.0.0.0/8', 'localhost', 'primary', 'localhost', 'all'],
      ['10.1.1.1'],
      ['10.0.0.0/8', ...LOCALHOST, '10.1.1.1/32', ...LOCALHOST, ...ALL],
    ],
    [['10.0.0.0/8', 'fd00::/8'], ['10.1.1.1'], ['10.0.0.0/8', 'fd00::/8']],
    [[], ['10.1.1.1'], []],
  ])('%j on a node with %j', (list, ips, expanded) => {
    expect(expandNodePortAddresses(list, node(...ips))).toEqual(expanded);
  });
});

describe('nodePortAddressesOf (docs/internals/spec/model.md §7)', () => {
  it('keeps the CIDRs of the family', () => {
    const list = ['10.0.0.0/8', 'fd00::/64', '192.168.0.1/24'];
    expect(nodePortAddressesOf('IPv4', list)).toEqual({
      matchAll: false,
      cidrs: cidrs('10.0.0.0/8', '192.168.0.0/24'),
      containsIPv4Loopback: false,
      explicitLoopback: false,
    });
    expect(nodePortAddressesOf('IPv6', list)).toEqual({
      matchAll: false,
      cidrs: cidrs('fd00::/64'),
      containsIPv4Loopback: false,
      explicitLoopback: false,
    });
  });

  it('a family without an entry answers everywhere', () => {
    expect(nodePortAddressesOf('IPv6', ['10.0.0.0/8'])).toEqual({
      matchAll: true,
      containsIPv4Loopback: false,
      explicitLoopback: false,
    });
    for (const list of [['fd00::/64'], []])
      expect(nodePortAddressesOf('IPv4', list)).toEqual({
        matchAll: true,
        containsIPv4Loopback: true,
        explicitLoopback: false,
      });
  });

  it('a prefix of length 0 matches all, whatever else the list has', () => {
    expect(nodePortAddressesOf('IPv4', ['10.0.0.0/8', '0.0.0.0/0', '127.0.0.0/8'])).toEqual({
      matchAll: true,
      containsIPv4Loopback: true,
      explicitLoopback: true,
    });
    expect(nodePortAddressesOf('IPv6', ['::1/128', '::/0'])).toEqual({
      matchAll: true,
      containsIPv4Loopback: false,
      explicitLoopback: true,
    });
  });

  it.each([
    ['IPv4', ['127.0.0.0/8'], true],
    ['IPv4', ['127.0.0.1/32'], true],
    ['IPv4', ['10.0.0.0/8', '0.0.0.0/0', '127.0.0.1/32'], true],
    ['IPv4', ['127.0.0.2/32'], false],
    ['IPv4', ['64.0.0.0/2'], false],
    ['IPv4', ['0.0.0.0/0'], false],
    ['IPv4', ['::1/128'], false],
    ['IPv6', ['::/0', '::1/128'], true],
    ['IPv6', ['::/127'], false],
    ['IPv6', ['127.0.0.0/8'], false],
  ] as const)('%s, %j names loopback: %s', (family, list, expected) => {
    expect(nodePortAddressesOf(family, list).explicitLoopback).toBe(expected);
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
