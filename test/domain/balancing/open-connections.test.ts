import fc from 'fast-check';
import {
  nextWeights,
  withEffectiveWeights,
  type EffectiveWeights,
} from '../../../src/domain/balancing/open-connections.js';
import { slotShares } from '../../../src/domain/balancing/slots.js';
import { endpointPlace, type Endpoint } from '../../../src/domain/model/endpoint.js';
import { endpoint } from '../../support/samples.js';

const listOf = (count: number): readonly Endpoint[] =>
  Array.from({ length: count }, (_, index) => endpoint(`10.244.2.${index + 1}`));

/** The part of new connections that each endpoint of the list gets. */
function partsOf(list: readonly Endpoint[], weights: EffectiveWeights | undefined): readonly number[] {
  const shares = slotShares(withEffectiveWeights(list, weights), { method: 'least-connections' });
  return shares.map(({ slots, totalSlots }) => slots / totalSlots);
}

/** Open connections of each endpoint after some seconds. Connections last that many seconds on average. */
function openAfter(
  seconds: number,
  list: readonly Endpoint[],
  durations: readonly number[],
  newPerSecond: number,
): readonly number[] {
  let weights: EffectiveWeights | undefined;
  let open = list.map(() => 0);
  for (let second = 0; second < seconds; second++) {
    const parts = partsOf(list, weights);
    open = open.map((count, index) => {
      const settled = parts[index]! * newPerSecond * durations[index]!;
      return settled + (count - settled) * Math.exp(-1 / durations[index]!);
    });
    const counts = new Map(list.map((one, index) => [endpointPlace(one), Math.round(open[index]!)]));
    weights = nextWeights(list, weights, (place) => counts.get(place)!) ?? weights;
  }
  return open;
}

describe('effective weights by open connections', () => {
  it('approach weight / (open connections + 1), and stay there', () => {
    const list = [endpoint('10.244.2.1'), endpoint('10.244.2.2'), endpoint('10.244.2.3', { weight: 4 })];
    const open = new Map([
      ['10.244.2.1:8080', 1],
      ['10.244.2.2:8080', 9],
      ['10.244.2.3:8080', 9],
    ]);
    let weights: EffectiveWeights | undefined;
    let steps = 0;
    for (;;) {
      const next = nextWeights(list, weights, (place) => open.get(place)!);
      if (!next) break;
      weights = next;
      steps++;
    }
    // 1/2, 1/10 and 4/10; a step that is not worth writing is missing.
    const parts = partsOf(list, weights);
    expect(parts[0]).toBeCloseTo(0.5, 1);
    expect(parts[1]).toBeCloseTo(0.1, 1);
    expect(parts[2]).toBeCloseTo(0.4, 1);
    expect(steps).toBeLessThan(10);
  });

  it('return to the weights when no connection is open', () => {
    const list = listOf(3);
    let weights: EffectiveWeights | undefined = new Map([['10.244.2.1:8080', 100]]);
    for (let next = weights; next;) {
      weights = next;
      next = nextWeights(list, weights, () => 0)!;
    }
    for (const part of partsOf(list, weights)) expect(part).toBeCloseTo(1 / 3, 1);
  });

  it('change nothing where all endpoints have about the same number of connections', () => {
    expect(
      nextWeights(listOf(4), undefined, (place) => (place.startsWith('10.244.2.1') ? 104 : 100)),
    ).toBeUndefined();
  });

  it('give a new endpoint the mean of the others, and about twice as much a second later', () => {
    const list = listOf(10);
    const busy = new Map(list.slice(1).map((one) => [endpointPlace(one), 0.02]));
    expect(partsOf(list, busy)[0]).toBeCloseTo(0.1, 2);
    const next = nextWeights(list, busy, (place) => (place === '10.244.2.1:8080' ? 0 : 49));
    expect(partsOf(list, next)[0]).toBeLessThan(0.25);
  });

  it('keep the slow ones of ten endpoints from half of the connections they would have at random, without swinging', () => {
    const durations = [3, 3, ...Array.from({ length: 8 }, () => 0.3)];
    const list = listOf(10);
    const [last, before] = [openAfter(60, list, durations, 500), openAfter(59, list, durations, 500)];
    // At random: 150 on each slow one, 15 on others.
    expect(last[0]).toBeLessThan(75);
    for (const [index, count] of last.entries()) expect(count / before[index]!).toBeCloseTo(1, 1);
  });

  it('leave each endpoint some slots, whatever is open', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(1_000_000), { minLength: 2, maxLength: 60 }), (counts) => {
        const list = listOf(counts.length);
        let weights: EffectiveWeights | undefined;
        for (let step = 0; step < 30; step++)
          weights =
            nextWeights(
              list,
              weights,
              (place) => counts[list.findIndex((one) => endpointPlace(one) === place)]!,
            ) ?? weights;
        for (const part of partsOf(list, weights)) expect(part).toBeGreaterThan(0);
      }),
    );
  });
});
