import { RuleParts } from '../../../../src/domain/nftables/layout/rule-parts.js';

/** How many bytes a rule loads to compare a network, and whether it masks them. */
const loaded = (family: 'IPv4' | 'IPv6', network: string) => {
  const [load, ...rest] = new RuleParts(family).address('saddr', '==', network);
  return [load!.kind === 'payload' && load.length, rest.length === 2];
};

it.each([
  ['0.0.0.0/0', 4, true],
  ['128.0.0.0/1', 4, true],
  ['10.0.0.0/8', 1, false],
  ['10.128.0.0/9', 4, true],
  ['10.1.0.0/16', 2, false],
  ['10.1.2.0/24', 3, false],
  ['10.1.2.2/31', 4, true],
  ['10.1.2.3/32', 4, false],
  ['10.1.2.3', 4, false],
])('the network %s is compared by %i bytes, with a mask: %s', (network, bytes, isMasked) => {
  expect(loaded('IPv4', network)).toEqual([bytes, isMasked]);
});

it.each([
  ['::/0', 16, true],
  ['fd00::/8', 1, false],
  ['fd00::/65', 16, true],
  ['fd00::/64', 8, false],
  ['fd00::1', 16, false],
])('the network %s is compared by %i bytes, with a mask: %s', (network, bytes, isMasked) => {
  expect(loaded('IPv6', network)).toEqual([bytes, isMasked]);
});

it('a network of the other family, and what is none, is rejected', () => {
  for (const network of ['fd00::/8', 'x', '10.0.0.0/33'])
    expect(() => new RuleParts('IPv4').address('daddr', '!=', network)).toThrow('an IPv4 address or CIDR');
});
