import fc from 'fast-check';
import {
  isInterfaceName,
  InvalidInterfaceNameError,
  localTrafficDetector,
  type LocalTrafficSettings,
} from '../../../src/domain/node/local-traffic-detector.js';
import { parseCidr } from '../../../src/domain/net/cidr.js';
import { anyText } from '../../support/any-text.js';

const settings: LocalTrafficSettings = {
  mode: 'ClusterCIDR',
  clusterCIDRs: ['10.244.1.1/16', 'fd00:10::/56'],
  podCIDRs: ['10.244.3.0/24', '10.244.4.0/24'],
  bridgeInterface: 'cni0',
  interfaceNamePrefix: 'veth',
};

describe('localTrafficDetector (docs/internals/spec/model.md §6)', () => {
  it('ClusterCIDR: the first cluster CIDR of the family, masked', () => {
    expect(localTrafficDetector('IPv4', settings)).toEqual({
      kind: 'cidr',
      cidr: parseCidr('10.244.0.0/16'),
    });
    expect(localTrafficDetector('IPv6', settings)).toEqual({ kind: 'cidr', cidr: parseCidr('fd00:10::/56') });
    expect(localTrafficDetector('IPv6', { ...settings, clusterCIDRs: ['10.0.0.0/8'] })).toBeUndefined();
  });

  it('NodeCIDR: the first pod CIDR of the family', () => {
    const byNode = { ...settings, mode: 'NodeCIDR' } as const;
    expect(localTrafficDetector('IPv4', byNode)).toEqual({ kind: 'cidr', cidr: parseCidr('10.244.3.0/24') });
    expect(localTrafficDetector('IPv6', byNode)).toBeUndefined();
  });

  it.each(['IPv4', 'IPv6'] as const)('interfaces serve %s as well', (family) => {
    expect(localTrafficDetector(family, { ...settings, mode: 'BridgeInterface' })).toEqual({
      kind: 'interface',
      name: 'cni0',
      wildcard: false,
    });
    expect(localTrafficDetector(family, { ...settings, mode: 'InterfaceNamePrefix' })).toEqual({
      kind: 'interface',
      name: 'veth',
      wildcard: true,
    });
  });

  it('refuses names that no interface has', () => {
    const byBridge = { ...settings, mode: 'BridgeInterface', bridgeInterface: 'a" drop' } as const;
    expect(() => localTrafficDetector('IPv4', byBridge)).toThrow(InvalidInterfaceNameError);
  });
});

describe('isInterfaceName', () => {
  it.each(['eth0', 'br-1234567890ab', 'a', 'eth0.100', 'veth+', 'ä'])('takes %s', (name) => {
    expect(isInterfaceName(name)).toBe(true);
  });

  it.each([
    '',
    '.',
    '..',
    '1234567890123456',
    'ääääääää',
    'a/b',
    'a b',
    'a\n',
    'a"',
    "a'",
    'a`',
    'a\\',
    'a*',
    'a:b',
    'a\0',
    'a\x7f',
  ])('refuses %j', (name) => {
    expect(isInterfaceName(name)).toBe(false);
  });

  it('lets nothing through that ends a quoted text', () => {
    fc.assert(
      fc.property(anyText(20), (name) => {
        expect(isInterfaceName(name) && /["\\\n\r]/.test(name)).toBe(false);
      }),
    );
  });
});
