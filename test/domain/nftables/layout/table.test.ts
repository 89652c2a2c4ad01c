import fc from 'fast-check';
import { formatPriority, parsePriority } from '../../../../src/domain/nftables/layout/table.js';

it.each([
  [0, 'none'],
  [1, '0:1'],
  [0x10000, '1:0'],
  [0x8000002a, '8000:2a'],
  [0xffffffff, 'root'],
])('%i is %s', (number, text) => {
  expect(formatPriority(number)).toBe(text);
});

it('every number is read as it was written', () => {
  const numbers = fc.nat(0xffffffff);
  fc.assert(fc.property(numbers, (number) => parsePriority(formatPriority(number)) === number));
  expect(parsePriority('root')).toBe(0xffffffff);
  expect(parsePriority('none')).toBe(0);
});
