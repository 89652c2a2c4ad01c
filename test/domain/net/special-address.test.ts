import {
  parseAddress,
  specialRange,
  unreachableRange,
  unservableRange,
} from '../../../src/domain/net/address.js';
it.each([
  ['0.0.0.0', 'unspecified'],
  ['::', 'unspecified'],
  ['127.0.0.53', 'loopback'],
  ['::1', 'loopback'],
  ['169.254.169.254', 'link-local'],
  ['fe80::1', 'link-local'],
  ['febf::1', 'link-local'],
  ['224.0.0.251', 'link-local multicast'],
  ['ff02::fb', 'link-local multicast'],
  ['10.96.0.1', undefined],
  ['0.0.0.1', undefined],
  ['169.253.0.1', undefined],
  ['224.0.1.1', undefined],
  ['2001:db8::1', undefined],
  ['fec0::1', undefined],
  ['ff05::2', undefined],
])('%s is %s', (text, range) => {
  expect(specialRange(parseAddress(text)!)).toBe(range);
});

it.each([
  ['0.0.0.0', 'unspecified', 'unspecified'],
  ['::', 'unspecified', 'unspecified'],
  ['127.0.0.1', 'loopback', 'loopback'],
  ['::1', 'loopback', 'loopback'],
  ['::ffff:127.0.0.1', 'loopback', 'loopback'],
  ['255.255.255.255', 'broadcast', 'broadcast'],
  ['224.0.0.251', 'multicast', 'multicast'],
  ['239.255.255.255', 'multicast', 'multicast'],
  ['ff05::2', 'multicast', 'multicast'],
  ['169.254.169.254', undefined, 'link-local'],
  ['fe80::1', undefined, 'link-local'],
  ['223.255.255.255', undefined, undefined],
  ['240.0.0.1', undefined, undefined],
  ['22.4.0.1', undefined, undefined],
  ['2001:db8::1', undefined, undefined],
])('%s is %s for a Service, %s for an endpoint', (text, ofService, ofEndpoint) => {
  expect(unservableRange(parseAddress(text)!)).toBe(ofService);
  expect(unreachableRange(parseAddress(text)!)).toBe(ofEndpoint);
});
