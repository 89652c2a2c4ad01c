import { parseAddress } from '../../../src/domain/net/address.js';
import { specialRange } from '../../../src/domain/net/special-address.js';

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
