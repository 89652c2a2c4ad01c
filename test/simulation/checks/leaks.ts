import type { ServiceDescription } from '../cluster/service-description.js';
import type { Simulation } from '../simulation.js';
import { lasting } from './lasting.js';
import { openOf } from './remains.js';

/** A Service with health checks and affinity comes and goes so often, which must leave nothing. */
const TIMES = 6;
/** Milliseconds between two changes, until it is programmed in every mode. */
const PAUSE = 2_500;
/**
 * Milliseconds until what is late has ended, too: connections to endpoints that are gone are watched for five minutes
 * (docs/behavior/failover.md).
 */
const FORGOTTEN = 320_000;
/** Its number, of which no other Service's is. */
const NUMBER = 150;
const COMES_AND_GOES: ServiceDescription = {
  number: NUMBER,
  type: 'balancer',
  ports: ['http:80/TCP', 'dns:53/UDP'],
  pods: [{ number: 201, isLocal: true, condition: 'ready' }],
  externalLocal: true,
  internalLocal: false,
  affinity: 30,
  ranges: 0,
  slices: 1,
};

/**
 * What the program has more of each time a Service has come and gone: timers, connections, files; or a collection that grows. To be called
 * when all is quiet; undefined if there is nothing.
 */
export async function leak(simulation: Simulation): Promise<string | undefined> {
  const { cluster, world } = simulation;
  const { proxy, scheduler } = world;
  const before = openOf(world, proxy);
  const collections = new Collections(() => scheduler.owner === proxy.life);
  try {
    for (let time = 1; time <= TIMES; time++) {
      const name = `passing/s${time}`;
      cluster.putService(name, COMES_AND_GOES);
      await scheduler.runUntil(world.now + PAUSE);
      cluster.removeService(name);
      await scheduler.runUntil(world.now + PAUSE);
      collections.count();
    }
  } finally {
    collections.end();
  }
  simulation.active.add('nothing leaks');
  const grown = (): string | undefined =>
    Object.entries(openOf(world, proxy))
      .filter(([what, count]) => count >= before[what]! + TIMES)
      .map(([what, count]) => `${count} ${what}, ${before[what]} before`)[0];
  return lasting(world, () => grown() ?? collections.growing, world.now + FORGOTTEN);
}

type Collection = Map<unknown, unknown> | Set<unknown>;

/** The sizes of all collections to which the program adds something. */
class Collections {
  private readonly sizes = new Map<Collection, readonly number[]>();
  private readonly added = new Map<Collection, unknown>();
  private readonly own = new Set<unknown>([this.sizes, this.added]);
  private readonly set = Map.prototype.set;
  private readonly add = Set.prototype.add;
  private counts = 0;

  constructor(isCounted: () => boolean) {
    const { own } = this;
    const grows = (collection: Collection, key: unknown): void => {
      // Rules that the simulated kernel has parsed are kept for all worlds, by their texts.
      const isRule = typeof key === 'string' && /^[!-]/.test(key);
      if (own.has(collection) || isRule || !isCounted()) return;
      this.set.call(this.added, collection, key);
    };
    const { add, set } = this;
    Map.prototype.set = function (this: Map<unknown, unknown>, key: unknown, value: unknown) {
      grows(this, key);
      return set.call(this, key, value);
    };
    Set.prototype.add = function (this: Set<unknown>, value: unknown) {
      grows(this, value);
      return add.call(this, value);
    };
  }

  /** After each time. */
  count(): void {
    this.counts++;
    for (const collection of this.added.keys())
      this.set.call(this.sizes, collection, [...(this.sizes.get(collection) ?? []), collection.size]);
  }

  end(): void {
    Map.prototype.set = this.set;
    Set.prototype.add = this.add;
  }

  /** One that was larger after each time, and still is, and what it got last. */
  get growing(): string | undefined {
    for (const [collection, sizes] of this.sizes) {
      const grows = sizes.every((size, at) => at === 0 || size > sizes[at - 1]!);
      if (sizes.length === this.counts && grows && collection.size >= sizes.at(-1)!)
        return `a collection of ${sizes.join(', ')}, which has got ${String(this.added.get(collection))}`;
    }
    return undefined;
  }
}
