import fc from 'fast-check';
import { BytesMap } from '../../../../src/domain/nftables/kernel/bytes-map.js';

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
  // The first two of four bytes whose hashes by FNV-1a are the same.
  const [one, other] = sameHash();
  const map = new BytesMap<string>();
  map.set(one, 'one');
  expect(map.get(other)).toBeUndefined();
  map.set(other, 'other');
  expect([map.get(one), map.get(other)]).toEqual(['one', 'other']);
});

/** Among a hundred thousand numbers of 32 bits some have the same. */
function sameHash(): readonly [Uint8Array, Uint8Array] {
  const seen = new Map<number, Uint8Array>();
  for (let number = 0; ; number++) {
    const key = Uint8Array.of(number, number >>> 8, number >>> 16, 1, number >>> 4);
    let hash = 0x811c9dc5 | 0;
    for (const byte of key) hash = Math.imul(hash ^ byte, 0x01000193);
    const known = seen.get(hash);
    if (known) return [known, key];
    seen.set(hash, key);
  }
}
