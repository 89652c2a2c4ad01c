import {
  maglevTable,
  MOST_SLOTS,
  slotCount,
  slotShares,
  slotsOf,
  tableNumber,
  tableSize,
  TABLE_SIZES,
} from '../../../src/domain/balancing/slots.js';
import type { Endpoint } from '../../../src/domain/model/endpoint.js';

function endpoints(...weights: readonly (number | undefined)[]): readonly Endpoint[] {
  return weights.map((weight, index) => ({
    address: `10.244.1.${index}`,
    port: 8080,
    isLocal: false,
    ready: true,
    serving: true,
    terminating: false,
    zoneHints: [],
    nodeHints: [],
    ...(weight !== undefined && { weight }),
  }));
}

const isPrime = (number: number): boolean => {
  for (let divisor = 2; divisor * divisor <= number; divisor++) if (number % divisor === 0) return false;
  return true;
};

describe('the slots of a choice', () => {
  it('are none where a number for each endpoint does', () => {
    const list = endpoints(undefined, undefined, undefined);
    expect(slotsOf(list, { method: 'random' })).toBeUndefined();
    expect(slotsOf(list, { method: 'round-robin' })).toBeUndefined();
    expect(slotsOf(endpoints(7), { method: 'maglev' })).toBeUndefined();
    expect(slotShares(list, { method: 'random' })).toEqual([
      { slots: 1, totalSlots: 3 },
      { slots: 1, totalSlots: 3 },
      { slots: 1, totalSlots: 3 },
    ]);
  });

  it('meet weights exactly where their period is short, evenly mixed', () => {
    const list = endpoints(20, 10, 10);
    const slots = slotsOf(list, { method: 'round-robin' })!;
    expect(Array.from(slots)).toEqual([0, 0, 1, 2]);
    expect(slotShares(list, { method: 'random' })).toEqual([
      { slots: 2, totalSlots: 4 },
      { slots: 1, totalSlots: 4 },
      { slots: 1, totalSlots: 4 },
    ]);
  });

  it('are those of a table where the period is long, every share within one percent of itself', () => {
    const weights = [1000, 999, 500];
    const shares = slotShares(endpoints(...weights), { method: 'random' });
    shares.forEach(({ slots, totalSlots }, place) => {
      const exact = weights[place]! / 2499;
      expect(Math.abs(slots / totalSlots - exact) / exact).toBeLessThan(0.01);
    });
  });

  it('count endpoints alike that all have weight 0', () => {
    expect(slotShares(endpoints(0, 0), { method: 'random' })).toEqual([
      { slots: 1, totalSlots: 2 },
      { slots: 1, totalSlots: 2 },
    ]);
  });

  it('are the same for the same list on another node', () => {
    const balancing = { method: 'maglev' } as const;
    expect(slotsOf(endpoints(1, 2, 3), balancing)).toEqual(slotsOf(endpoints(1, 2, 3), balancing));
  });

  it('are as many as one prime of few', () => {
    for (const size of TABLE_SIZES) expect(isPrime(size)).toBe(true);
    const sizeFor = (count: number) =>
      tableSize(
        Array.from({ length: count }, () => 1),
        true,
      );
    expect([2, 20, 21, 40, 41, 81, 82, 1000].map(sizeFor)).toEqual([
      2039, 2039, 4093, 4093, 8191, 8191, 16_381, 16_381,
    ]);
    expect(tableSize([1, 1000], true)).toBe(16_381);
    expect(tableSize([1, 9], false)).toBe(1021);
    expect(tableSize([1, 1000], false)).toBe(16_381);
  });

  it('leave no endpoint out, however light it is and however many there are', () => {
    for (const list of [
      endpoints(1, 1000),
      endpoints(...Array.from({ length: 4000 }, (_, at) => 1 + (at % 10))),
    ])
      for (const method of ['random', 'maglev'] as const)
        for (const { slots } of slotShares(list, { method })) expect(slots).toBeGreaterThan(0);
  });

  it('do not depend on the port, unless it differs between endpoints', () => {
    const balancing = { method: 'maglev' } as const;
    const list = endpoints(1, 1, 1);
    const elsewhere = list.map((endpoint) => ({ ...endpoint, port: 9090 }));
    expect(slotsOf(elsewhere, balancing)).toEqual(slotsOf(list, balancing));
    expect(slotsOf(elsewhere.with(0, list[0]!), balancing)).not.toEqual(slotsOf(list, balancing));
  });

  it('are counted without making them', () => {
    for (const list of [
      endpoints(1),
      endpoints(1, 1),
      endpoints(3, 1),
      endpoints(1000, 999),
      endpoints(0, 5),
    ])
      for (const method of ['random', 'round-robin', 'maglev', 'maglev-source'] as const)
        for (const isTable of [false, true])
          expect(slotCount(list, { method }, isTable)).toBe(slotsOf(list, { method }, isTable)?.length);
  });

  it('have weights met exactly up to a period of 1021, and a table beyond', () => {
    const random = { method: 'random' } as const;
    expect(slotCount(endpoints(1000, 21), random)).toBe(1021);
    expect(slotCount(endpoints(1000, 23), random)).toBe(8191);
    expect(slotCount(endpoints(1000, 21), random, true)).toBe(8191);
    expect(slotCount(endpoints(1, 1), random)).toBeUndefined();
    expect(slotCount(endpoints(1, 1), random, true)).toBe(1021);
  });

  it('of one list are kept for each method and size', () => {
    const list = endpoints(3, 1);
    const turns = slotsOf(list, { method: 'random' });
    const hashed = slotsOf(list, { method: 'maglev' });
    expect(slotsOf(list, { method: 'random' })).toBe(turns);
    expect(slotsOf(list, { method: 'maglev-source' })).toBe(hashed);
    expect([turns?.length, hashed?.length]).toEqual([4, 2039]);
  });
});

// A new version must not move the connections of clients: not the order of a table, nor its number.
it('tables and their numbers are those of former versions', () => {
  expect(MOST_SLOTS).toBe(16_381);
  expect(Array.from(maglevTable(['10.244.1.1', '10.244.1.2', '10.244.1.3'], [1, 2, 1], 13))).toEqual([
    1, 0, 0, 1, 0, 1, 0, 1, 1, 1, 2, 2, 2,
  ]);
  expect([tableNumber('shop/cart/tcp/http', 'cluster'), tableNumber('shop/cart/tcp/http', 'local')]).toEqual([
    1_622_200_332, 3_679_740_375,
  ]);
});
