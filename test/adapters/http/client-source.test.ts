import { isOverLoopback, isThisNode, sourceOf } from '../../../src/adapters/http/connection-guard.js';

it.each([
  ['192.0.2.7', '192.0.2.7'],
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:db8:1:2:ffff::1', '2001:db8:1:2::/64'],
  ['fe80::1%eth0', 'fe80::/64'],
  [undefined, undefined],
])('a client at %s is counted as %s', (remoteAddress, source) => {
  expect(sourceOf({ remoteAddress })).toBe(source);
});

it.each([
  ['127.0.0.1', '127.0.0.1', true, true],
  ['::ffff:127.0.0.9', '::ffff:127.0.0.1', true, true],
  ['::1', '::1', true, true],
  ['192.0.2.1', '192.0.2.1', false, true],
  ['192.0.2.2', '192.0.2.1', false, false],
  // As a node that routes to its loopback addresses lets a neighbour do.
  ['192.0.2.2', '127.0.0.1', false, false],
  ['::ffff:192.0.2.2', '::ffff:127.0.0.1', false, false],
  [undefined, undefined, false, false],
])(
  'a client at %s that called %s: over loopback %s, on this node %s',
  (remoteAddress, localAddress, ...is) => {
    expect([isOverLoopback({ remoteAddress }), isThisNode({ remoteAddress, localAddress })]).toEqual(is);
  },
);
