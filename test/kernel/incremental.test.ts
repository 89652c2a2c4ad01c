import fc from 'fast-check';
import { history, settings, survivors } from '../support/nftables/cluster-arbitraries.js';
import type { IncrementalDriver } from './incremental/driver.js';
import { DriverBundle, Namespace, type Driver } from '../support/program/in-namespace.js';

const RUNS = 12;

let bundle: DriverBundle<IncrementalDriver>;
let namespace: Namespace;
let driver: Driver<IncrementalDriver>;

beforeAll(async () => {
  bundle = await DriverBundle.make<IncrementalDriver>(new URL('./incremental/driver.ts', import.meta.url));
});
afterAll(() => bundle.remove());
beforeEach(async () => {
  namespace = await Namespace.open('incremental');
  driver = namespace.drive(bundle);
});
afterEach(() => namespace.close());

/** The lines of what the kernel holds, in an order of their own: that of sets and elements means nothing. */
async function ruleset(): Promise<readonly string[]> {
  const listing = await namespace.run(['nft', '--json', 'list', 'ruleset']);
  const { nftables } = JSON.parse(listing) as { nftables: Record<string, Record<string, unknown>>[] };
  const lines = nftables.map((entry) => {
    for (const object of Object.values(entry)) {
      delete object.handle;
      if (Array.isArray(object.elem))
        object.elem = object.elem.map((element) => JSON.stringify(element)).sort();
    }
    return JSON.stringify(entry);
  });
  // Rules of one chain keep their order: JSON lists them one after the other, so their place is part of the line.
  const places = new Map<string, number>();
  return lines
    .map((line, index) => {
      const chain = (nftables[index] as { rule?: { family: string; chain: string } }).rule;
      if (!chain) return line;
      const name = `${chain.family} ${chain.chain}`;
      const place = places.get(name) ?? 0;
      places.set(name, place + 1);
      return `${name} ${place} ${line}`;
    })
    .sort();
}

describe('a table in the kernel, changed step by step', () => {
  it('is the table of a fresh start, which finds nothing to write on it', async () => {
    await fc.assert(
      fc.asyncProperty(history, settings, async (changes, nodeSettings) => {
        await namespace.run(['nft', 'flush', 'ruleset']);
        expect((await driver.ask('live', changes, nodeSettings)).failed).toBe(0);
        const stepByStep = await ruleset();
        const final = survivors(changes);
        expect(await driver.ask('live', final, nodeSettings)).toEqual({
          failed: 0,
          operations: 0,
        });
        await namespace.run(['nft', 'flush', 'ruleset']);
        await driver.ask('live', final, nodeSettings);
        expect(await ruleset()).toEqual(stepByStep);
      }),
      { numRuns: RUNS, endOnFailure: true },
    );
  }, 120_000);
});
