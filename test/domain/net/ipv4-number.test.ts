import fc from 'fast-check';
import { ipv4Number, ipv4Text } from '../../../src/domain/net/address.js';

it('counts addresses from 0.0.0.0 on', () => {
  expect(['0.0.0.0', '0.0.0.1', '0.0.1.0', '10.96.0.1', '255.255.255.255'].map(ipv4Number)).toEqual([
    0,
    1,
    256,
    10 * 2 ** 24 + 96 * 2 ** 16 + 1,
    2 ** 32 - 1,
  ]);
});

it('reads what it writes', () => {
  fc.assert(fc.property(fc.ipV4(), (text) => expect(ipv4Text(ipv4Number(text)!)).toBe(text)));
});

it.each(['::', 'fd00::1', '::ffff:10.0.0.1'])('leaves %s to others', (text) => {
  expect(ipv4Number(text)).toBeUndefined();
});
