import fc from 'fast-check';
import { endpointPlace } from '../../../src/domain/model/endpoint.js';
import { NoEndpointError, RoundRobin } from '../../../src/domain/userspace/round-robin.js';
import { endpoint } from '../../support/samples.js';

const [a, b, c] = ['10.244.1.1', '10.244.1.2', '10.244.1.3'].map((address) => endpoint(address)) as [
  ReturnType<typeof endpoint>,
  ReturnType<typeof endpoint>,
  ReturnType<typeof endpoint>,
];
/** Leaves every list in its order. */
const inOrder = () => 1 - Number.EPSILON;
const SECOND = 1000;

function roundRobin(endpoints = [a, b, c], affinitySeconds = 0): RoundRobin {
  const chooser = new RoundRobin(inOrder);
  chooser.stickFor(affinitySeconds);
  chooser.use(endpoints);
  return chooser;
}

describe('without affinity', () => {
  it('takes the endpoints in turn, whoever comes', () => {
    const chooser = roundRobin();
    expect(['x', 'x', 'y', 'x'].map((client) => chooser.next(client, 0))).toEqual([a, b, c, a]);
    expect(chooser.heldClients).toBe(0);
  });

  it('says when there is none', () => {
    const chooser = roundRobin([]);
    expect(() => chooser.next('x', 0)).toThrow(NoEndpointError);
    chooser.use([a]);
    expect(chooser.next('x', 0)).toBe(a);
    chooser.use([]);
    expect(() => chooser.next('x', 0)).toThrow(NoEndpointError);
  });

  it('lets connections stay with its endpoints, and with those that only keep them', () => {
    const chooser = roundRobin([a]);
    chooser.use([a], [b]);
    const kept = () => [a, b, c].map((one) => chooser.has(endpointPlace(one)));
    expect(kept()).toEqual([true, true, false]);
    chooser.use([b, c]);
    expect(kept()).toEqual([false, true, true]);
    expect(['x', 'x', 'x'].map((client) => chooser.next(client, 0))).toEqual([b, c, b]);
  });

  it('goes on where it was when the same endpoints come again in another order', () => {
    const chooser = roundRobin();
    chooser.next('x', 0);
    chooser.use([c, a, b]);
    expect(chooser.next('x', 0)).toEqual(b);
  });

  it('picks a new order for other endpoints: any is possible, and each endpoint gets its turn', () => {
    const orders = new Set<string>();
    for (const first of [0, 0.4, 0.7])
      for (const second of [0.2, 0.8]) {
        const rest = [second, first];
        const chooser = new RoundRobin(() => rest.pop()!);
        chooser.use([a, b, c]);
        const round = [1, 2, 3].map(() => endpointPlace(chooser.next('x', 0)));
        expect(new Set(round).size).toBe(3);
        orders.add(String(round));
      }
    expect(orders.size).toBe(6);
  });
});

describe('with affinity', () => {
  it('keeps a client as long as it comes back in time, and goes on with the round otherwise', () => {
    const chooser = roundRobin([a, b, c], 60);
    const at = (seconds: number, client: string) => chooser.next(client, seconds * SECOND);
    expect([at(0, 'c1'), at(1, 'c2'), at(2, 'c1'), at(3, 'c3')]).toEqual([a, b, a, c]);
    expect(at(61, 'c1')).toBe(a);
    expect(at(61 + 59.999, 'c1')).toBe(a);
    chooser.next('other', 122 * SECOND);
    expect(at(122 + 61, 'c1')).toBe(b);
    expect(at(122 + 61 + 59, 'c1')).toBe(b);
  });

  it('moves a client on when its endpoint does not answer, and keeps it there', () => {
    const chooser = roundRobin([a, b, c], 60);
    expect(chooser.next('x', 0)).toBe(a);
    expect(chooser.next('x', 1, true)).toBe(b);
    expect(chooser.next('x', 2)).toBe(b);
    chooser.letGo('x');
    expect(chooser.next('x', 3)).toBe(c);
  });

  it('lets go only of those whose endpoint is gone', () => {
    const chooser = roundRobin([a, b, c], 60);
    for (const client of ['x', 'y', 'z']) chooser.next(client, 0);
    chooser.use([c, b]);
    expect(chooser.heldClients).toBe(2);
    expect([chooser.next('y', 1), chooser.next('z', 1)]).toEqual([b, c]);
    expect(chooser.has(endpointPlace(a))).toBe(false);
  });

  it('follows another timeout at once, and forgets everybody when there is none', () => {
    const chooser = roundRobin([a, b], 60);
    expect(chooser.next('x', 0)).toBe(a);
    chooser.stickFor(5);
    expect(chooser.next('x', 5 * SECOND)).toBe(b);
    chooser.stickFor(0);
    expect(chooser.heldClients).toBe(0);
    expect([chooser.next('x', 0), chooser.next('x', 0)]).toEqual([a, b]);
  });

  it('purges those whose time is over', () => {
    const chooser = roundRobin([a, b], 60);
    chooser.next('x', 0);
    chooser.next('y', 30 * SECOND);
    chooser.purge(60 * SECOND);
    expect(chooser.heldClients).toBe(1);
    expect(chooser.next('y', 61 * SECOND)).toBe(b);
  });
});

describe('whatever happens', () => {
  const all = [a, b, c];
  const step = fc.oneof(
    fc.record({ use: fc.subarray(all) }),
    fc.record({ stickFor: fc.constantFrom(0, 1, 10) }),
    fc.record({
      client: fc.constantFrom('x', 'y'),
      afresh: fc.boolean(),
      after: fc.constantFrom(0, 500, 2000),
    }),
  );

  it('only ever gives an endpoint that there is, and a held client its own', () => {
    fc.assert(
      fc.property(fc.array(step), fc.infiniteStream(fc.constantFrom(0, 0.3, 0.6, 0.9)), (steps, randoms) => {
        const chooser = new RoundRobin(() => randoms.next().value as number);
        let present: readonly (typeof a)[] = [];
        let seconds = 0;
        let now = 0;
        const last = new Map<string, { place: string; at: number }>();
        for (const move of steps) {
          if ('use' in move) {
            present = move.use;
            chooser.use(move.use);
            for (const [client, { place }] of last)
              if (!present.some((there) => endpointPlace(there) === place)) last.delete(client);
          } else if ('stickFor' in move) {
            seconds = move.stickFor;
            chooser.stickFor(seconds);
            if (seconds === 0) last.clear();
          } else if (present.length === 0) {
            expect(() => chooser.next(move.client, now)).toThrow(NoEndpointError);
          } else {
            now += move.after;
            const held = last.get(move.client);
            const place = endpointPlace(chooser.next(move.client, now, move.afresh));
            expect(present.map(endpointPlace)).toContain(place);
            if (held && !move.afresh && Math.floor((now - held.at) / SECOND) < seconds)
              expect(place).toBe(held.place);
            if (seconds > 0) last.set(move.client, { place, at: now });
          }
        }
      }),
    );
  });

  it('gives each endpoint its share', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 0, max: 200 }), (count, calls) => {
        const chooser = new RoundRobin(Math.random);
        chooser.use(Array.from({ length: count }, (_, number) => endpoint(`10.244.2.${number}`)));
        const shares = new Map<string, number>();
        for (let call = 0; call < calls; call++) {
          const place = endpointPlace(chooser.next('x', 0));
          shares.set(place, (shares.get(place) ?? 0) + 1);
        }
        for (const share of shares.values()) {
          expect(share).toBeGreaterThanOrEqual(Math.floor(calls / count));
          expect(share).toBeLessThanOrEqual(Math.ceil(calls / count));
        }
      }),
    );
  });
});
