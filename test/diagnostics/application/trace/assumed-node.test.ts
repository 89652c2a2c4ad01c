import { parseAddress } from '../../../../src/domain/net/address.js';
import { AssumedNode } from '../../../../src/diagnostics/application/trace/traced-node.js';
import { outsideAddress } from '../../../../src/diagnostics/application/trace/trace-packets.js';
import type { ForwardingEntry } from '../../../../src/domain/forwarding/forwarding-entry.js';
import type { LocalTrafficDetector } from '../../../../src/domain/node/local-traffic-detector.js';
import { nodeNetwork } from '../../../support/iptables/services.js';

const OBJECT: ConstructorParameters<typeof AssumedNode>[0] = {
  name: 'n1',
  zone: '',
  ips: [parseAddress('192.0.2.4')!, parseAddress('fd00:1::4')!],
  furtherAddresses: [parseAddress('198.51.100.4')!],
  podCIDRs: ['10.244.1.0/24', 'fd00:10:244:1::/64'],
  draining: false,
};
const node = new AssumedNode(OBJECT);

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
  ])(
    '%s (local endpoint: %s) comes in through the interface of pods: %s',
    async (source, isEndpoint, isPod) => {
      const entry = { localEndpoints: isEndpoint ? [{ address: source }] : [] } as unknown as ForwardingEntry;
      const through = (detector: LocalTrafficDetector | undefined) =>
        new AssumedNode(OBJECT, { network: { ...nodeNetwork(), detector }, entries: () => [entry] }).arrival(
          source,
        );
      expect(await through({ kind: 'interface', name: 'cni0', wildcard: false })).toBe(
        isPod ? 'cni0' : '(outside)',
      );
      expect(await through({ kind: 'interface', name: 'veth', wildcard: true })).toBe(
        isPod ? 'veth' : '(outside)',
      );
      expect(await through(undefined)).toBe(isPod ? '(pods)' : '(outside)');
    },
  );

  it.each([
    ['127.0.0.1', '127.0.0.1'],
    ['127.3.4.5', '127.0.0.1'],
    ['::1', '::1'],
    ['10.244.1.1', '10.244.1.1'],
    ['10.96.0.1', '192.0.2.4'],
    ['fd00:99::1', 'fd00:1::4'],
  ])('sends to %s from %s', async (destination, source) => {
    expect(await node.ownAddressTowards(destination)).toMatchObject({ text: source });
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
