import fc from 'fast-check';
import { sharedWith, sortedOnce, type Endpoint } from '../../../src/domain/model/endpoint.js';

const endpoint: fc.Arbitrary<Endpoint> = fc
  .record({
    last: fc.integer({ min: 1, max: 6 }),
    ready: fc.boolean(),
    isLocal: fc.boolean(),
    zoneHints: fc.subarray(['a', 'b']),
  })
  .map(({ last, ready, isLocal, zoneHints }) => ({
    address: `10.0.0.${last}`,
    port: 80,
    isLocal,
    ready,
    serving: ready,
    terminating: false,
    zoneHints,
    nodeHints: [],
  }));
const list = fc.array(endpoint).map(sortedOnce);

describe('a list that shares endpoints with an earlier one', () => {
  it('has the same endpoints, and those of the earlier list where they are equal', () => {
    fc.assert(
      fc.property(list, list, (before, after) => {
        const shared = sharedWith(before, after);
        expect(shared).toEqual(after);
        for (const member of shared) {
          const earlier = before.find(({ address }) => address === member.address);
          const isEqual = JSON.stringify(earlier) === JSON.stringify(member);
          expect(before.includes(member)).toBe(isEqual);
        }
      }),
    );
  });

  it('is the earlier list itself if nothing changed', () => {
    fc.assert(
      fc.property(list, (before) => {
        expect(sharedWith(before, structuredClone(before))).toBe(before);
      }),
    );
  });
});
