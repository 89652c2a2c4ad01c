import { parseAddress } from '../../../../src/domain/net/address.js';
import { AssumedNode, outsideAddress } from '../../../../src/diagnostics/domain/trace/assumed-node.js';
const node = new AssumedNode({
  name: 'n1',
  zone: '',
  ips: [parseAddress('192.0.2.4')!, parseAddress('fd00:1::4')!],
  furtherAddresses: [parseAddress('198.51.100.4')!],
  podCIDRs: ['10.244.1.0/24', 'fd00:10:244:1::/64'],
  draining: false,
});

describe('a node of which only its object is known', () => {
  it('has the addresses of the object, the first of its pod networks, and loopback', () => {
    expect([...node.localAddresses].sort()).toEqual([
      '10.244.1.1',
      '127.0.0.1',
      '192.0.2.4',
      '198.51.100.4',
      '::1',
      'fd00:10:244:1::1',
      'fd00:1::4',
    ]);
  });

  it.each([
    ['10.244.1.9', false, true],
    ['10.244.2.9', false, false],
    ['192.168.7.7', true, true],
    ['203.0.113.5', false, false],
  ])('%s (local endpoint: %s) comes in through the interface of pods: %s', (source, isEndpoint, isPod) => {
    const through = (wildcard: boolean) =>
      node.arrival(source, isEndpoint, { kind: 'interface', name: wildcard ? 'veth' : 'cni0', wildcard });
    expect([through(false), through(true)]).toEqual(isPod ? ['cni0', 'veth'] : ['(outside)', '(outside)']);
    expect(node.arrival(source, isEndpoint, undefined)).toBe(isPod ? '(pods)' : '(outside)');
  });

  it.each([
    ['127.0.0.1', '127.0.0.1'],
    ['127.3.4.5', '127.0.0.1'],
    ['::1', '::1'],
    ['10.244.1.1', '10.244.1.1'],
    ['10.96.0.1', '192.0.2.4'],
    ['fd00:99::1', 'fd00:1::4'],
  ])('sends to %s from %s', (destination, source) => {
    expect(node.ownAddressTowards(destination)).toBe(source);
  });
});

describe('the address that stands for outside', () => {
  it('is none of the cluster', () => {
    expect(outsideAddress('IPv4', () => false)).toBe('203.0.113.77');
    expect(outsideAddress('IPv4', (address) => address.startsWith('203.'))).toBe('198.51.100.77');
    expect(outsideAddress('IPv6', (address) => address.startsWith('2001:'))).toBe('3fff::77');
    expect(outsideAddress('IPv6', () => true)).toBe('2001:db8:ffff::77');
  });
});
