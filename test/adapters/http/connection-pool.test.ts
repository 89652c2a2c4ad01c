import fc from 'fast-check';
import { ConnectionPool } from '../../../src/adapters/http/connection-guard.js';

let ended: string[];
let pool: ConnectionPool<string>;

beforeEach(() => {
  ended = [];
  pool = new ConnectionPool(6, 3, (connection) => ended.push(connection));
});

/** Connections that are named after their source, as `a1`. */
function enter(...connections: readonly string[]): readonly boolean[] {
  return connections.map((connection) => pool.enter(connection[0]!, connection));
}

describe('ConnectionPool', () => {
  it('ends the longest idle connection of a source that has its most', () => {
    enter('a1', 'a2', 'a3', 'b1');
    expect(enter('a4', 'a5')).toEqual([true, true]);
    expect(ended).toEqual(['a1', 'a2']);
    expect(pool.size).toBe(4);
  });

  it('ends connections of the source that has the most when there are too many of all', () => {
    enter('a1', 'b1', 'b2', 'b3', 'c1', 'c2');
    expect(enter('d1')).toEqual([true]);
    expect(ended).toEqual(['b1']);
  });

  it('spares those with a request, and counts as used what had one', () => {
    enter('a1', 'a2', 'a3');
    pool.requestStarted('a1');
    enter('a4');
    expect(ended).toEqual(['a2']);
    pool.requestEnded('a1');
    enter('a5', 'a6');
    expect(ended).toEqual(['a2', 'a3', 'a4']);
    expect(enter('a7')).toEqual([true]);
    expect(ended.at(-1)).toBe('a1');
  });

  it('refuses where all are busy: of a source, though others have idle ones; and of all', () => {
    enter('a1', 'a2', 'a3', 'b1', 'b2', 'b3');
    for (const busy of ['a1', 'a2', 'a3']) pool.requestStarted(busy);
    expect(enter('a4')).toEqual([false]);
    expect(enter('c1')).toEqual([true]);
    expect(ended).toEqual(['b1']);
    for (const busy of ['b2', 'b3', 'c1']) pool.requestStarted(busy);
    expect(enter('d1')).toEqual([false]);
    pool.leave('b2');
    expect(enter('d1')).toEqual([true]);
  });

  it('never holds more than it may, whatever comes', () => {
    const step = fc.record({
      what: fc.constantFrom('enter', 'leave', 'requestStarted', 'requestEnded'),
      source: fc.constantFrom('a', 'b', 'c', 'd'),
      pick: fc.nat(5),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const open = new Map<string, number>();
        const tested = new ConnectionPool<string>(6, 3, (one) => {
          expect(open.get(one)).toBe(0);
          open.delete(one);
        });
        let made = 0;
        for (const { what, source, pick } of steps) {
          const one = [...open.keys()][pick];
          if (what === 'enter') {
            const name = `${source}${made++}`;
            if (tested.enter(source, name)) open.set(name, 0);
            else expect(tested.hasRoom(source)).toBe(false);
          } else if (one !== undefined) {
            if (what === 'leave') open.delete(one);
            else if (what === 'requestStarted') open.set(one, open.get(one)! + 1);
            else if (open.get(one) === 0) continue;
            else open.set(one, open.get(one)! - 1);
            tested[what](one);
          }
          expect(tested.size).toBe(open.size);
          expect(open.size).toBeLessThanOrEqual(6);
          for (const [key, requests] of open) expect(tested.isIdle(key)).toBe(requests === 0);
        }
      }),
    );
  });
});
