import { parseAddress } from '../../../src/domain/net/address.js';
import {
  isPrimaryLoopback,
  nodeIPs,
  nodePortAddressesOf,
  nodePortIPs,
  selectNodeAddresses,
} from '../../../src/domain/node/node-addresses.js';

const ips = (...texts: readonly string[]) => texts.map((text) => parseAddress(text)!);

describe('nodeIPs (docs/internals/spec/server.md §2)', () => {
  const internal = (address: string) => ({ type: 'InternalIP', address });
  const external = (address: string) => ({ type: 'ExternalIP', address });

  it('prefers internal addresses whatever the order', () => {
    expect(nodeIPs([external('1.1.1.1'), internal('10.0.0.1')])).toEqual(ips('10.0.0.1'));
  });

  it('takes the first of each family, the very first first', () => {
    expect(nodeIPs([internal('fd00::1'), internal('fd00::2'), internal('10.0.0.1')])).toEqual(
      ips('fd00::1', '10.0.0.1'),
    );
    expect(nodeIPs([external('fd00::1'), internal('10.0.0.1'), internal('10.0.0.2')])).toEqual(
      ips('10.0.0.1', 'fd00::1'),
    );
  });

  it('skips other types and what is not an address', () => {
    expect(nodeIPs([{ type: 'Hostname', address: '10.0.0.9' }, internal('x'), external('1.1.1.1')])).toEqual(
      ips('1.1.1.1'),
    );
    expect(nodeIPs([])).toEqual([]);
  });
});

describe('selectNodeAddresses (the table of docs/internals/spec/server.md §3)', () => {
  it.each([
    [[], '0.0.0.0', 'IPv4', '127.0.0.1', '::1'],
    [[], '2001:db8::7', 'IPv6', '127.0.0.1', '2001:db8::7'],
    [['10.1.1.1'], '::', 'IPv4', '10.1.1.1', '::1'],
    [['2001:db8::2', '10.1.1.1'], '0.0.0.0', 'IPv6', '10.1.1.1', '2001:db8::2'],
    [['2001:db8::2', '10.1.1.1'], '10.9.9.9', 'IPv4', '10.9.9.9', '2001:db8::2'],
    [['10.1.1.1'], 'nonsense', 'IPv4', '10.1.1.1', '::1'],
  ])('%j bound to %s: %s', (nodes, bindAddress, primaryFamily, IPv4, IPv6) => {
    expect(selectNodeAddresses(ips(...nodes), bindAddress)).toEqual({
      primaryFamily,
      addresses: { IPv4, IPv6 },
    });
  });

  it('looks at no more than two addresses of the Node', () => {
    const { addresses } = selectNodeAddresses(ips('10.1.1.1', 'fd00::1', '10.1.1.3'), '::');
    expect(addresses).toEqual({ IPv4: '10.1.1.1', IPv6: 'fd00::1' });
  });

  it('recognizes a node with only a loopback address', () => {
    expect(isPrimaryLoopback(selectNodeAddresses([], '::'))).toBe(true);
    expect(isPrimaryLoopback(selectNodeAddresses(ips('10.1.1.1'), '::'))).toBe(false);
    expect(isPrimaryLoopback(selectNodeAddresses(ips('10.1.1.1'), '::1'))).toBe(true);
  });
});

describe('nodePortIPs', () => {
  const own = ['10.0.0.1', '10.1.0.1', '192.0.2.1', '127.0.0.1', 'fd00::1'];
  it.each([
    [['10.0.0.0/16', '192.0.2.0/24'], ['10.0.0.1', '192.0.2.1'], []],
    [['127.0.0.0/8', '10.1.0.1/32'], ['10.1.0.1'], ['127.0.0.1']],
    [['fd00::/64', '10.1.0.0/16'], ['10.1.0.1'], []],
    [['203.0.113.0/24'], [], []],
  ])('are the addresses of the node in any of %j', (networks, addresses, loopback) => {
    const chosen = nodePortAddressesOf('IPv4', networks);
    expect(chosen.matchAll).toBe(false);
    expect(nodePortIPs('cidrs' in chosen ? chosen.cidrs : [], own)).toEqual({ ips: addresses, loopback });
  });
});
