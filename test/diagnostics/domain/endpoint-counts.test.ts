import fc from 'fast-check';
import { countEndpoints, type FamilyEndpoints } from '../../../src/diagnostics/domain/endpoint-counts.js';

interface Pod {
  readonly name: string;
  readonly isNamed: boolean;
  readonly isUsed: boolean;
  readonly isEjected: boolean;
  readonly isUnresponsive: boolean;
}

/** Pods of different names, most of which are named in the slices, and some of which get traffic. */
const pods: fc.Arbitrary<readonly Pod[]> = fc.uniqueArray(
  fc.record({
    name: fc.integer({ min: 1, max: 9 }).map((number) => `cart-${number}`),
    isNamed: fc.boolean(),
    isUsed: fc.boolean(),
    isEjected: fc.boolean(),
    isUnresponsive: fc.boolean(),
  }),
  { selector: ({ name }) => name },
);
const portCount = fc.integer({ min: 1, max: 4 });

/** The pods at so many ports of a Service. */
function family(all: readonly Pod[], ports: number, prefix: string): FamilyEndpoints {
  const lists = (chosen: readonly Pod[]) =>
    Array.from({ length: ports }, (_, port) =>
      chosen.map(({ name, isNamed }) => ({
        address: `${prefix}${name.slice(5)}`,
        port,
        pod: isNamed ? name : undefined,
      })),
    );
  return {
    known: lists(all),
    used: lists(all.filter(({ isUsed }) => isUsed)),
    ejected: lists(all.filter(({ isEjected }) => isEjected)),
    unresponsive: lists(all.filter(({ isUnresponsive }) => isUnresponsive)),
  };
}

const countOf = (all: readonly Pod[], is: (pod: Pod) => boolean): number => all.filter(is).length;

it('counts every endpoint once, for any number of ports', () => {
  fc.assert(
    fc.property(pods, portCount, (all, ports) => {
      const { used, known, ejected = 0, unresponsive = 0 } = countEndpoints([family(all, ports, '10.0.0.')]);
      expect([used, known, ejected, unresponsive]).toEqual([
        countOf(all, ({ isUsed }) => isUsed),
        all.length,
        countOf(all, ({ isEjected }) => isEjected),
        countOf(all, ({ isUnresponsive }) => isUnresponsive),
      ]);
    }),
  );
});

it('is the larger count of both families, never the sum', () => {
  fc.assert(
    fc.property(pods, pods, portCount, (ipv4, ipv6, ports) => {
      const both = countEndpoints([family(ipv4, ports, '10.0.0.'), family(ipv6, ports, 'fd00::')]);
      expect(both.known).toBe(Math.max(ipv4.length, ipv6.length));
      const isUsed = (pod: Pod): boolean => pod.isUsed;
      expect(both.used).toBe(Math.max(countOf(ipv4, isUsed), countOf(ipv6, isUsed)));
      expect(both.used).toBeLessThanOrEqual(both.known);
    }),
  );
});

it('is the same for a Service with one family and with both, and in any order', () => {
  fc.assert(
    fc.property(pods, portCount, (all, ports) => {
      const one = countEndpoints([family(all, ports, '10.0.0.')]);
      const families = [family(all, ports, '10.0.0.'), family(all.toReversed(), ports, 'fd00::')];
      expect(countEndpoints(families)).toEqual(one);
      expect(countEndpoints(families.toReversed())).toEqual(one);
    }),
  );
});

it('counts the pod of dual-stack DNS with three ports once', () => {
  const pod = { name: 'cart-1', isNamed: true, isUsed: true, isEjected: false, isUnresponsive: false };
  expect(countEndpoints([family([pod], 3, '10.0.0.'), family([pod], 3, 'fd00::')])).toEqual({
    used: 1,
    known: 1,
  });
  expect(countEndpoints([])).toEqual({ used: 0, known: 0 });
});

it('distinguishes a pod that is named like an address from the address', () => {
  const port = 80;
  expect(
    knownIn([
      [
        { pod: '10.0.0.1', address: '10.0.0.2', port },
        { address: '10.0.0.1', port },
      ],
    ]),
  ).toBe(2);
});

it('counts the processes at one address to which one port of the Service leads', () => {
  const at = (...ports: readonly number[]) => ports.map((port) => ({ address: '192.0.2.1', port }));
  expect(knownIn([at(8081, 8082)])).toBe(2);
  expect(knownIn([at(8081, 8082), at(9091, 9092)])).toBe(2);
  expect(knownIn([at(8081, 8081)])).toBe(1);
  expect(knownIn([at(53), at(9153)])).toBe(1);
});

function knownIn(known: FamilyEndpoints['known']): number {
  return countEndpoints([{ known, used: [], ejected: [], unresponsive: [] }]).known;
}
