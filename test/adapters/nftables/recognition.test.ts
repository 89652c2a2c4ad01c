import { nftablesBackend } from '../../support/backends.js';
import fc from 'fast-check';
import { GenerationWatch } from '../../../src/adapters/nftables/generation-watch.js';
import type { TableState } from '../../../src/adapters/nftables/transport.js';
import type { NodeSettings } from '../../../src/application/node/node-contexts.js';
import { IP_FAMILIES, type IpFamily } from '../../../src/domain/net/ip-family.js';
import { BY_ADDRESS, setsOf } from '../../../src/domain/nftables/layout/sets.js';
import type { SetDefinition, SetElement } from '../../../src/domain/nftables/layout/table.js';
import { sampleEntry, sampleNode } from '../../../src/testing/contract/sample-services.js';
import { MemoryLogger } from '../../../src/testing/fakes/memory-logger.js';
import { MemoryNftTransport } from '../../support/fakes/memory-nft-transport.js';
import {
  history,
  LOCAL_ADDRESSES,
  settings,
  survivors,
  type Change,
} from '../../support/nftables/cluster-arbitraries.js';
import { InMemoryProxy } from '../../support/nftables/in-memory-proxy.js';

const logger = new MemoryLogger();

/** Tells what was looked up and listed. */
class WatchedTransport extends MemoryNftTransport {
  lookedUp = 0;
  readonly listed = new Set<string>();
  /** As kernels before they counted elements. */
  counts = true;

  onLookUp: () => void = () => undefined;

  override lookUp(family: IpFamily, set: SetDefinition, keys: readonly string[]) {
    this.lookedUp += keys.length;
    this.onLookUp();
    return super.lookUp(family, set, keys);
  }

  override async read(
    family: IpFamily,
    expected: readonly SetDefinition[],
    signal?: AbortSignal,
  ): Promise<TableState | undefined> {
    for (const { name } of expected) this.listed.add(name);
    const state = await super.read(family, expected, signal);
    if (!state || this.counts) return state;
    const sets = [...state.sets].map(([name, set]) => [name, { ...set, count: undefined }] as const);
    return { ...state, sets: new Map(sets) };
  }

  forget(): void {
    this.resetCounts();
    this.lookedUp = 0;
    this.listed.clear();
  }
}

/** digests lost, as after `nft list ruleset` and `nft -f`. */
class ForgetfulTransport extends WatchedTransport {
  override async read(...request: Parameters<WatchedTransport['read']>): Promise<TableState | undefined> {
    const state = await super.read(...request);
    const sets = [...(state?.sets ?? [])].map(([name, set]) => {
      const elements = [...set.elements].map(([key, { digest: _, ...element }]) => [key, element] as const);
      return [name, { ...set, elements: new Map<string, SetElement>(elements) }] as const;
    });
    return state && { ...state, sets: new Map(sets) };
  }
}

describe('a restart', () => {
  it('whose objects changed meanwhile leaves what a fresh start leaves', async () => {
    await fc.assert(
      fc.asyncProperty(history, history, settings, async (former, changes, nodeSettings) => {
        const kernel = new WatchedTransport();
        await live(kernel, former, nodeSettings);
        const proxy = await live(kernel, survivors([...former, ...changes]), nodeSettings);
        // What only losers of a conflict had does not show in the digests.
        await proxy.verify('quick');
        const fresh = new WatchedTransport();
        await live(fresh, survivors([...former, ...changes]), nodeSettings);
        for (const family of IP_FAMILIES) expect(kernel.dump(family)).toBe(fresh.dump(family));
        expect(kernel.refusedCount).toBe(0);
      }),
      { numRuns: 8 },
    );
  });

  it('writes nothing and lists no large set, when nothing changed', async () => {
    await fc.assert(
      fc.asyncProperty(history, settings, async (changes, nodeSettings) => {
        const kernel = new WatchedTransport();
        await live(kernel, survivors(changes), nodeSettings);
        kernel.forget();
        await live(kernel, survivors(changes), nodeSettings);
        expect(kernel.listed).not.toContain('endpoints');
        expect(kernel.operationCount).toBe(0);
      }),
      { numRuns: 8 },
    );
  });

  it.each([
    ['looks up and counts', true, WatchedTransport],
    ['lists everything where the kernel does not count', false, WatchedTransport],
    ['finds no digests', true, ForgetfulTransport],
  ])(
    'is followed by a verification that repairs any damage done meanwhile, when it %s',
    async (_, counts, Transport) => {
      const damage = fc.array(fc.record({ at: fc.nat(), how: fc.constantFrom('delete', 'alter', 'add') }), {
        minLength: 1,
        maxLength: 8,
      });
      await fc.assert(
        fc.asyncProperty(history, settings, damage, async (changes, nodeSettings, steps) => {
          const kernel = new Transport();
          kernel.counts = counts;
          await live(kernel, survivors(changes), nodeSettings);
          const before = IP_FAMILIES.map((family) => kernel.dump(family));
          for (const family of IP_FAMILIES) for (const step of steps) tamper(kernel, family, step);
          const proxy = await live(kernel, survivors(changes), nodeSettings);
          await proxy.verify('quick');
          expect(IP_FAMILIES.map((family) => kernel.dump(family))).toEqual(before);
          kernel.resetCounts();
          expect(await proxy.verify('full')).toBe(0);
          expect(kernel.operationCount).toBe(0);
        }),
        { numRuns: 5 },
      );
    },
  );
});

describe('a verification', () => {
  const node = sampleNode('IPv4');
  const one = sampleEntry('IPv4', 'one', { number: 1, endpoints: 3 });
  const other = sampleEntry('IPv4', 'other', {
    number: 2,
    endpoints: 3,
    external: true,
    affinitySeconds: 60,
  });
  const { endpoints } = setsOf(BY_ADDRESS);

  it('lists a large set only when the kernel counts more in it than is known', async () => {
    const kernel = new WatchedTransport();
    const backend = nftablesBackend('IPv4', kernel, new GenerationWatch(kernel), logger);
    await backend.start([one, other], node);
    kernel.forget();
    expect(await backend.verify('full')).toMatchObject({ compared: true, written: 0 });
    expect(kernel.listed).not.toContain('endpoints');
    expect(kernel.lookedUp).toBeGreaterThan(6);
    const stray = { key: '10.96.99.99 . tcp . 80 . 8000:1', value: '10.244.9.9 . 80' };
    kernel.tamper('IPv4', [{ op: 'add-elements', set: endpoints, elements: [stray] }]);
    expect(await backend.verify('quick')).toMatchObject({ compared: true, written: 1 });
    expect(kernel.listed).toContain('endpoints');
    expect(kernel.dump('IPv4')).not.toContain('10.96.99.99');
  });

  it('counts each element that it puts back as a step', async () => {
    const kernel = new WatchedTransport();
    const backend = nftablesBackend('IPv4', kernel, new GenerationWatch(kernel), logger);
    await backend.start([one, other], node);
    const { elements } = (await kernel.read('IPv4', [endpoints]))!.sets.get(endpoints.name)!;
    expect(elements.size).toBeGreaterThan(2);
    kernel.tamper('IPv4', [{ op: 'delete-elements', set: endpoints, elements: [...elements.values()] }]);
    expect(await backend.verify('quick')).toMatchObject({ compared: true, written: elements.size });
  });

  it('compares everything after a start that recognized service ports', async () => {
    const kernel = new WatchedTransport();
    const open = () => nftablesBackend('IPv4', kernel, new GenerationWatch(kernel), logger);
    await open().start([one, other], node);
    const backend = open();
    kernel.forget();
    await backend.start([one, other], node);
    expect(kernel.lookedUp).toBe(0);
    expect(await backend.verify('quick')).toMatchObject({ compared: true });
    expect(await backend.verify('quick')).toMatchObject({ compared: false });
  });

  it.each(['a verification', 'a start that recognizes everything'])(
    '%s leaves others their turns',
    async (what) => {
      const kernel = new WatchedTransport();
      const open = () => nftablesBackend('IPv4', kernel, new GenerationWatch(kernel), logger);
      const entries = Array.from({ length: 250 }, (_, number) =>
        sampleEntry('IPv4', `service-${number}`, { number, endpoints: 5 }),
      );
      const first = open();
      await first.start(entries, node);
      let turns = 0;
      let running = true;
      const count = (): void => {
        turns++;
        if (running) setImmediate(count);
      };
      setImmediate(count);
      if (what === 'a verification') await first.verify('full');
      else await open().start(entries, node);
      running = false;
      expect(turns).toBeGreaterThan(4);
    },
  );

  it('ends soon after it is interrupted', async () => {
    const kernel = new WatchedTransport();
    const backend = nftablesBackend('IPv4', kernel, new GenerationWatch(kernel), logger);
    const entries = Array.from({ length: 200 }, (_, number) =>
      sampleEntry('IPv4', `service-${number}`, { number, endpoints: 5 }),
    );
    await backend.start(entries, node);
    kernel.forget();
    const controller = new AbortController();
    const reason = new Error('a change came');
    kernel.onLookUp = () => controller.abort(reason);
    await expect(backend.verify('full', controller.signal)).rejects.toBe(reason);
    expect(kernel.lookedUp).toBeLessThan(400);
  });
});

async function live(
  kernel: MemoryNftTransport,
  changes: readonly Change[],
  nodeSettings: NodeSettings,
): Promise<InMemoryProxy> {
  const proxy = proxyOn(kernel, nodeSettings);
  for (const step of changes) {
    if (step.change === 'apply') proxy.events.applied(step.kind, step.object);
    else if (step.change === 'delete') proxy.events.deleted(step.kind, step);
    else await proxy.sync();
  }
  expect((await proxy.sync()).flatMap(({ failed }) => failed)).toEqual([]);
  // Removes structures that became unused on the way.
  if (changes.some(({ change }) => change === 'sync')) await proxy.verify('full');
  return proxy;
}

function proxyOn(kernel: MemoryNftTransport, nodeSettings: NodeSettings): InMemoryProxy {
  const generations = new GenerationWatch(kernel);
  return new InMemoryProxy(
    IP_FAMILIES.map((family) => nftablesBackend(family, kernel, generations, logger)),
    nodeSettings,
    () => LOCAL_ADDRESSES,
  );
}

function tamper(
  kernel: MemoryNftTransport,
  family: IpFamily,
  { at, how }: { readonly at: number; readonly how: string },
): void {
  const all = [...kernel.contents(family)!.sets.values()].flatMap(({ set, elements }) =>
    set.dynamicSize === undefined && set.value !== 'verdict'
      ? [...elements.values()].map((element) => ({ set, element }))
      : [],
  );
  const place = all[at % Math.max(1, all.length)];
  if (!place) return;
  const { set, element } = place;
  const remove = { op: 'delete-elements', set, elements: [element] } as const;
  const add = (changed: SetElement) => ({ op: 'add-elements', set, elements: [changed] }) as const;
  if (how === 'delete') return kernel.tamper(family, [remove]);
  if (how === 'alter') return kernel.tamper(family, [remove, add(altered(family, set, element))]);
  const stray = strayKey(family, set, element.key);
  if (kernel.contents(family)!.sets.get(set.name)!.elements.has(stray)) return;
  kernel.tamper(family, [add({ ...element, key: stray })]);
}

/** Another traffic class, or another endpoint; a set has only the comment. */
function altered(family: IpFamily, { value }: SetDefinition, { key }: SetElement): SetElement {
  if (value === undefined) return { key, comment: 'of another program' };
  if (value.length === 1) return { key, value: '5000:2' };
  return { key, value: `${family === 'IPv6' ? 'fd00:99::98' : '203.0.113.198'} . 61234` };
}

/** The same with another port, or number. */
function strayKey(family: IpFamily, { key }: SetDefinition, text: string): string {
  const words = text.split(' . ');
  const last = key.at(-1);
  if (last === 'port') return [...words.slice(0, -1), '61234'].join(' . ');
  if (last === 'priority') return [...words.slice(0, -1), '7fff:fff0'].join(' . ');
  if (last === 'slot') return [...words.slice(0, -1), '4000000000'].join(' . ');
  return [...words.slice(0, -1), family === 'IPv6' ? 'fd00:99::99' : '203.0.113.199'].join(' . ');
}
