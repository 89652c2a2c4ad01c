import fc from 'fast-check';
import { PortFailover, type PortObservation } from '../../../src/domain/failover/port-failover.js';
import type { Evidence } from '../../../src/domain/traffic/endpoint-traffic.js';

const SECOND = 1_000;
const [A, B, C, D] = ['a', 'b', 'c', 'd'] as const;

/** What is known of endpoints, to be changed by a test as time goes on. */
class Scene {
  readonly failover = new PortFailover();
  private readonly evidence = new Map<string, Evidence>();
  lists: readonly ReadonlySet<string>[];
  isReliable = true;
  /** How many clients there are. */
  clients = 1;
  /** What this node finds when it tries to connect: by default, that nobody answers. */
  own: PortObservation['ownAttempts'] = () => ({ unanswered: this.now });
  now = 1_000 * SECOND;

  constructor(...list: readonly string[]) {
    this.lists = [new Set(list)];
  }

  /** Its last connections, three if nothing else is said, began just over a second ago, and wait. */
  silent(place: string, count = 3, ago = 1_100): void {
    const answered = this.evidence.get(place)?.answered;
    const unanswered = Array.from({ length: count }, (_, client) => ({
      begun: this.now - ago,
      client: client % this.clients,
    }));
    this.evidence.set(place, { unanswered, answered });
  }

  answers(place: string): void {
    this.evidence.set(place, { unanswered: [], answered: this.now });
  }

  /** Others still wait. */
  answersOneClient(place: string): void {
    const { unanswered = [] } = this.evidence.get(place) ?? {};
    this.evidence.set(place, { unanswered, answered: this.now });
  }

  private get sight(): PortObservation {
    const { now, lists, isReliable, own: ownAttempts } = this;
    return { now, lists, isReliable, ownAttempts, evidenceOf: (place) => this.evidence.get(place) };
  }

  get toTry(): readonly string[] {
    return this.failover.placesToTry(this.sight);
  }

  look(seconds = 0): readonly string[] {
    this.now += seconds * SECOND;
    return this.failover.update(this.sight).map(({ place, what, why }) => `${place} ${what} ${why}`);
  }

  get ejected(): string {
    return [...this.failover.ejected.keys()].join('');
  }

  /** For how many seconds an endpoint is ejected from now on. */
  left(place: string): number {
    return (this.failover.ejected.get(place)!.until - this.now) / SECOND;
  }
}

describe('an endpoint is ejected', () => {
  it('after three connections without an answer, for 30 seconds', () => {
    const scene = new Scene(A, B, C);
    scene.silent(A, 2);
    expect(scene.look()).toEqual([]);
    scene.silent(A);
    expect(scene.look()).toEqual(['a ejected unresponsive']);
    expect([scene.ejected, scene.left(A)]).toEqual(['a', 30]);
    expect(scene.look(29.9)).toEqual([]);
    expect(scene.look(0.1)).toEqual(['a returned retry']);
    expect([scene.ejected, scene.failover.isIdle]).toEqual(['', false]);
  });

  it('only for connections of the last ten seconds', () => {
    const scene = new Scene(A, B, C);
    scene.silent(A, 3, 10_001);
    expect(scene.look()).toEqual([]);
    scene.silent(A, 3, 10_000);
    expect(scene.look()).toEqual(['a ejected unresponsive']);
  });

  it('never while it answers other clients', () => {
    const scene = new Scene(A, B, C);
    scene.silent(A);
    scene.answersOneClient(A);
    expect(scene.look()).toEqual([]);
    scene.silent(A, 3, 1_101);
    expect(scene.look(0.1)).toEqual([]);
    scene.silent(A, 3, 99);
    expect(scene.look(0)).toEqual(['a ejected unresponsive']);
  });

  it('longer each time that it is tried in vain, up to five minutes', () => {
    const scene = new Scene(A, B);
    const times = [30, 60, 120, 240, 300, 300].map((expected) => {
      scene.now += 2 * SECOND;
      scene.silent(A);
      scene.look();
      const left = scene.left(A);
      scene.look(expected);
      return left;
    });
    expect(times).toEqual([30, 60, 120, 240, 300, 300]);
  });

  it('again after three connections in vain, however long those take to come', () => {
    const scene = new Scene(A, B);
    scene.silent(A);
    scene.look();
    scene.look(30);
    scene.now += 600 * SECOND;
    scene.silent(A, 2, 500 * SECOND);
    expect(scene.look()).toEqual([]);
    scene.silent(A, 3, 500 * SECOND);
    expect(scene.look()).toEqual(['a ejected still unresponsive']);
  });

  it('never for what it did before it was tried again', () => {
    const scene = new Scene(A, B);
    scene.silent(A);
    scene.look();
    scene.look(30);
    scene.silent(A, 3, 1);
    expect(scene.look()).toEqual([]);
  });

  it('for the shortest time again once it has answered', () => {
    const scene = new Scene(A, B);
    scene.silent(A);
    scene.look();
    scene.look(30);
    scene.now += SECOND;
    scene.answers(A);
    scene.look();
    expect(scene.failover.isIdle).toBe(true);
    scene.now += 5 * SECOND;
    scene.silent(A);
    expect(scene.look()).toEqual(['a ejected unresponsive']);
    expect(scene.left(A)).toBe(30);
  });

  it('no longer when it answers meanwhile', () => {
    const scene = new Scene(A, B);
    scene.silent(A);
    scene.look();
    scene.now += SECOND;
    scene.answers(A);
    expect(scene.look()).toEqual(['a returned answered']);
    expect(scene.failover.isIdle).toBe(true);
  });
});

describe('what this node finds when it tries to connect', () => {
  it('is asked for as soon as one connection has no answer, every two seconds, while that is recent', () => {
    const scene = new Scene(A, B, C);
    scene.own = () => undefined;
    expect(scene.toTry).toEqual([]);
    scene.silent(A, 1);
    expect(scene.toTry).toEqual([A]);
    scene.own = () => ({ unanswered: scene.now - 1.9 * SECOND });
    expect(scene.toTry).toEqual([]);
    scene.own = () => ({ unanswered: scene.now - 2 * SECOND });
    expect(scene.toTry).toEqual([A]);
    scene.now += 10 * SECOND;
    expect(scene.toTry).toEqual([]);
  });

  it('decides: no endpoint is ejected without it, nor by an attempt of long ago', () => {
    const scene = new Scene(A, B, C);
    for (const own of [undefined, { unanswered: scene.now - 3.1 * SECOND }, { answered: scene.now }]) {
      scene.own = () => own;
      scene.silent(A);
      expect(scene.look()).toEqual([]);
    }
    scene.own = () => ({ answered: scene.now - 5 * SECOND, unanswered: scene.now });
    expect(scene.look()).toEqual(['a ejected unresponsive']);
  });

  it('an answer takes the doubt from what began before, so that others may be ejected', () => {
    const scene = new Scene(A, B, C);
    scene.own = (place) => (place === A ? { unanswered: scene.now } : { answered: scene.now });
    for (const place of [A, B, C]) scene.silent(place);
    expect(scene.toTry).toEqual([]);
    expect(scene.look()).toEqual(['a ejected unresponsive']);
  });

  it('where it cannot try, connections of two clients must be without an answer', () => {
    const scene = new Scene(A, B, C);
    scene.own = () => ({ impossible: scene.now });
    scene.silent(A);
    expect(scene.look()).toEqual([]);
    scene.clients = 2;
    scene.silent(A);
    expect(scene.look()).toEqual(['a ejected unresponsive']);
  });
});

describe('no endpoint is ejected', () => {
  it('who is the last one', () => {
    const scene = new Scene(A);
    scene.silent(A);
    expect(scene.look()).toEqual([]);
  });

  it('when more than half is silent; and all return, with their past forgotten', () => {
    const scene = new Scene(A, B, C, D);
    scene.silent(A);
    scene.silent(B);
    expect(scene.look()).toEqual(['a ejected unresponsive', 'b ejected unresponsive']);
    scene.silent(C);
    expect(scene.look()).toEqual(['a returned most unresponsive', 'b returned most unresponsive']);
    expect(scene.failover.isIdle).toBe(true);
    for (const place of [A, B, C, D]) scene.silent(place);
    expect(scene.look(1)).toEqual([]);
  });

  it('as long as more than half may be silent: one connection is enough for a doubt', () => {
    const scene = new Scene(A, B, C);
    scene.silent(A);
    scene.silent(B, 1);
    expect(scene.look()).toEqual([]);
  });

  it('for what began before the network came back', () => {
    const scene = new Scene(A, B, C, D);
    for (const place of [A, B, C, D]) scene.silent(place);
    scene.look();
    for (const place of [A, B]) scene.answers(place);
    for (let second = 0; second < 20; second++) expect(scene.look(1)).toEqual([]);
    scene.silent(C);
    expect(scene.look()).toEqual(['c ejected unresponsive']);
  });

  it('while events are lost, nor for what happened then', () => {
    const scene = new Scene(A, B);
    scene.isReliable = false;
    scene.silent(A);
    expect(scene.look()).toEqual([]);
    scene.isReliable = true;
    expect(scene.look(1)).toEqual([]);
    scene.look(1);
    scene.silent(A);
    expect(scene.look()).toEqual(['a ejected unresponsive']);
    scene.isReliable = false;
    expect(scene.look(30)).toEqual(['a returned retry']);
  });
});

it('forgets endpoints that leave, and takes them as new when they come back', () => {
  const scene = new Scene(A, B);
  scene.silent(A);
  scene.look();
  scene.lists = [new Set([B])];
  expect(scene.look(1)).toEqual([]);
  expect(scene.failover.isIdle).toBe(true);
  scene.lists = [new Set([A, B])];
  expect(scene.look(60)).toEqual([]);
});

it('ejects an endpoint for the sake of one list, though another cannot do without it', () => {
  const scene = new Scene();
  scene.lists = [new Set([A, B, C]), new Set([A])];
  scene.silent(A);
  expect(scene.look()).toEqual(['a ejected unresponsive']);
  expect(scene.look(1)).toEqual([]);
  scene.lists = [new Set([A])];
  expect(scene.look(1)).toEqual(['a returned most unresponsive']);
});

describe('whatever happens', () => {
  const places = [A, B, C, D, 'e'];
  const happening = fc.oneof(
    {
      weight: 4,
      arbitrary: fc.tuple(fc.constant('silent'), fc.constantFrom(...places), fc.integer({ min: 1, max: 3 })),
    },
    { weight: 2, arbitrary: fc.tuple(fc.constant('answers'), fc.constantFrom(...places), fc.constant(0)) },
    { weight: 1, arbitrary: fc.tuple(fc.constant('lost'), fc.constant(A), fc.constant(0)) },
    { weight: 1, arbitrary: fc.tuple(fc.constant('listed'), fc.constant(A), fc.integer({ min: 0, max: 5 })) },
    { weight: 2, arbitrary: fc.tuple(fc.constant('later'), fc.constant(A), fc.integer({ min: 1, max: 40 })) },
  );
  const story = fc.array(happening, { maxLength: 60 });

  it('never more than half of all lists are ejected, none newly while events are lost, and all return when all are silent', () => {
    let stepped = 0;
    fc.assert(
      fc.property(story, (happenings) => {
        const scene = new Scene(...places);
        for (const [what, place, number] of happenings) {
          scene.isReliable = what !== 'lost';
          if (what === 'silent') scene.silent(place, number);
          if (what === 'answers') scene.answers(place);
          if (what === 'listed') scene.lists = [new Set(places.slice(0, number))];
          const steps = scene.look(what === 'later' ? number : 1);
          const [list] = scene.lists;
          expect(scene.failover.ejected.size * 2).toBeLessThanOrEqual(list!.size);
          for (const one of scene.failover.ejected.keys()) expect(list).toContain(one);
          stepped += scene.failover.ejected.size;
          if (!scene.isReliable) expect(steps.join()).not.toContain('ejected');
        }
        for (const place of places) scene.silent(place);
        scene.look();
        expect(scene.failover.ejected.size).toBe(0);
        expect(scene.failover.isIdle || scene.lists[0]!.size > 0).toBe(true);
      }),
      { numRuns: 500 },
    );
    expect(stepped).toBeGreaterThan(100);
  });
});
