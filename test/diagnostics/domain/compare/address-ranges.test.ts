import fc from 'fast-check';
import {
  addressNumber,
  intersection,
  numberedAddress,
  rangeHas,
  rangesOf,
  without,
  type AddressRanges,
} from '../../../../src/diagnostics/domain/compare/address-ranges.js';

const LAST = 40;
const ranges = fc
  .array(fc.tuple(fc.integer({ min: 0, max: LAST }), fc.integer({ min: 0, max: LAST })))
  .map((pairs) =>
    rangesOf(
      pairs.map(([one, other]) => ({
        first: BigInt(Math.min(one, other)),
        last: BigInt(Math.max(one, other)),
      })),
    ),
  );
const has = (all: AddressRanges, number: number) => all.some((range) => rangeHas(range, BigInt(number)));

it('sums, cuts and takes away ranges as sets of numbers', () => {
  fc.assert(
    fc.property(ranges, ranges, (one, other) => {
      const both = rangesOf([...one, ...other]);
      for (let number = 0; number <= LAST; number++) {
        const [inOne, inOther] = [has(one, number), has(other, number)];
        expect(has(both, number)).toBe(inOne || inOther);
        expect(has(intersection(one, other), number)).toBe(inOne && inOther);
        expect(has(without(one, other), number)).toBe(inOne && !inOther);
      }
    }),
  );
});

it.each(['10.0.0.1', '255.255.255.255', 'fd00::1', '::'])('reads and writes %s', (text) => {
  expect(numberedAddress(addressNumber(text), text.includes(':') ? 'IPv6' : 'IPv4')).toBe(text);
});
