import fc from 'fast-check';
import { BytesMap } from '../../../../src/diagnostics/domain/nftables/elements.js';

const keys = fc.uint8Array({ maxLength: 3, max: 3 });

it('has the last value of each key, whichever others there are', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(keys, fc.nat())), keys, (entries, other) => {
      const map = new BytesMap<number>();
      const expected = new Map<string, number>();
      for (const [key, value] of entries) {
        map.set(key, value);
        expected.set(String(key), value);
      }
      for (const key of [...entries.map(([each]) => each), other])
        expect(map.get(key)).toBe(expected.get(String(key)));
    }),
  );
});

it('tells keys of the same hash apart', () => {
  const [one, other] = [Uint8Array.of(40, 29, 3, 1, 210), Uint8Array.of(220, 50, 33, 1, 45)];
  expect(fnv1a(one)).toBe(fnv1a(other));
  const map = new BytesMap<string>();
  map.set(one, 'one');
  expect(map.get(other)).toBeUndefined();
  map.set(other, 'other');
  expect([map.get(one), map.get(other)]).toEqual(['one', 'other']);
});

const fnv1a = (bytes: Uint8Array): number =>
  bytes.reduce((hash, byte) => Math.imul(hash ^ byte, 0x01000193), 0x811c9dc5 | 0);
