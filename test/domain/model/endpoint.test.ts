import fc from 'fast-check';
import {
  comparePlaces,
  endpointPlace,
  lackedBy,
  sharedWith,
  sortedOnce,
  type Endpoint,
} from '../../../src/domain/model/endpoint.js';

const endpoint: fc.Arbitrary<Endpoint> = fc
  .record({
    last: fc.integer({ min: 1, max: 6 }),
    ready: fc.boolean(),
    isLocal: fc.boolean(),
    zoneHints: fc.subarray(['a', 'b']),
    place: fc.record(
      {
        pod: fc.constantFrom('cart-1', 'cart-2'),
        nodeName: fc.constantFrom('n1', 'n2'),
        zone: fc.constantFrom('a', 'b'),
      },
      { requiredKeys: [] },
    ),
  })
  .map(({ last, ready, isLocal, zoneHints, place }) => ({
    address: `10.0.0.${last}`,
    port: 80,
    isLocal,
    ready,
    serving: ready,
    terminating: false,
    zoneHints,
    nodeHints: [],
    ...place,
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

describe('the order of endpoints', () => {
  const parts = fc.array(fc.constantFrom('1', '2', '10', '11', '100', '19'), { minLength: 4, maxLength: 4 });
  const ipv4 = parts.map((texts) => texts.join('.'));
  const ipv6 = fc.constantFrom('fd00::1', 'fd00::10', 'fd00::a', 'fd00:0:1::1', 'fd00::1:1', 'fd00::');
  const port = fc.constantFrom(8, 80, 800, 9, 443);
  const placed = (address: string, at: number): Endpoint => ({
    ...{ address, port: at, isLocal: false, ready: true, serving: true, terminating: false },
    ...{ zoneHints: [], nodeHints: [] },
  });

  it.each([ipv4, ipv6])('is that of ip:port', (address) => {
    fc.assert(
      fc.property(address, port, address, port, (one, onePort, other, otherPort) => {
        const [a, b] = [placed(one, onePort), placed(other, otherPort)];
        const [textA, textB] = [endpointPlace(a), endpointPlace(b)];
        expect(Math.sign(comparePlaces(a, b))).toBe(textA === textB ? 0 : textA < textB ? -1 : 1);
      }),
    );
  });

  it.each([ipv4, ipv6])('tells what one list lacks', (address) => {
    const lists = fc.array(fc.tuple(address, port).map(([ip, at]) => placed(ip, at))).map(sortedOnce);
    fc.assert(
      fc.property(lists, lists, (one, other) => {
        const places = new Set(other.map(endpointPlace));
        expect(lackedBy(other, one)).toEqual(one.filter((endpoint) => !places.has(endpointPlace(endpoint))));
      }),
    );
  });
});

it('of several endpoints at one place, the last one that is not terminating wins', () => {
  const at = (terminating: boolean, zone: string): Endpoint => ({
    ...{ address: '10.0.0.1', port: 80, isLocal: false, ready: !terminating, serving: true, terminating },
    ...{ zoneHints: [zone], nodeHints: [] },
  });
  expect(sortedOnce([at(false, 'a'), at(false, 'b'), at(true, 'c')])).toEqual([at(false, 'b')]);
  expect(sortedOnce([at(true, 'a'), at(true, 'b')])).toEqual([at(true, 'a')]);
});
