import { isInterfaceName } from '../../../src/domain/node/local-traffic-detector.js';

it.each(['a', 'cni0', 'veth-1.2_3', 'x'.repeat(15), 'é'.repeat(7), '...'])(
  '%j is the name of an interface',
  (text) => {
    expect(isInterfaceName(text)).toBe(true);
  },
);

it.each([
  '',
  '.',
  '..',
  'x'.repeat(16),
  'é'.repeat(8),
  'a b',
  'a/b',
  'eth0:1',
  'a\u0000',
  'a*',
  'a"',
  "a'",
  'a\\',
])('%j is none, or not safe in a rule', (text) => {
  expect(isInterfaceName(text)).toBe(false);
});
