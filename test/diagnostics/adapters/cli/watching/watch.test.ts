import { restAfterCostly, watch, type Watched } from '../../../../../src/diagnostics/adapters/cli/watch.js';
import type { OutputFormat } from '../../../../../src/diagnostics/adapters/cli/options.js';
import { usePrinted } from '../../../../support/program/use-printed.js';

interface Item {
  readonly name: string;
  readonly state: string;
  readonly age?: number;
}

const printed = usePrinted();

const watched = (items: readonly Item[], more: Partial<Watched<Item>> = {}): Watched<Item> => ({
  items,
  key: ({ name }) => name,
  essence: ({ state }) => state,
  text: (all, isWide) => {
    const widest = Math.max(...all.map(({ name }) => name.length));
    return {
      head: ['NAME STATE'],
      rows: all.map(({ name, state }) => [`${name.padEnd(widest)} ${state}${isWide ? ', wide' : ''}`]),
    };
  },
  name: ({ name }) => `thing/${name}`,
  ...more,
});

/** Watches until there is no further answer. */
async function run(answers: readonly (Watched<Item> | undefined)[], output: OutputFormat = 'text') {
  const ending = new AbortController();
  const left = [...answers];
  await watch(
    async () => {
      if (left.length === 1) ending.abort();
      return left.shift();
    },
    output,
    ending.signal,
    () => 0,
  );
  expect(left).toEqual([]);
  return printed.stdout;
}

const a = { name: 'a', state: 'good' };
const long = { name: 'longer', state: 'good' };

it('prints everything, and then what has changed, in the columns of all', async () => {
  const text = await run([
    watched([a, long]),
    watched([{ ...a, age: 5 }, long]),
    undefined,
    watched([{ ...a, state: 'bad' }, long]),
    watched([{ ...a, state: 'bad' }, long, { name: 'new', state: 'good' }]),
    undefined,
  ]);
  expect(text).toBe('NAME STATE\na      good\nlonger good\na      bad\nnew    good\n');
});

it('tells what is gone, where that can be told, and when it is back', async () => {
  const gone = (item: Item): Item => ({ ...item, state: 'gone' });
  const text = await run([
    watched([a, long], { gone }),
    watched([a], { gone }),
    watched([a], { gone }),
    watched([a, long], { gone }),
    undefined,
  ]);
  expect(text).toBe('NAME STATE\na      good\nlonger good\nlonger gone\nlonger good\n');
});

it('tells nothing of what is gone otherwise', async () => {
  expect(await run([watched([a, long]), watched([a]), undefined])).toBe(
    'NAME STATE\na      good\nlonger good\n',
  );
});

it('has the titles above the first that there is', async () => {
  expect(await run([watched([]), watched([a]), undefined])).toBe('NAME STATE\na good\n');
});

const changing = [watched([a, long]), watched([{ ...a, state: 'b\u001bd' }, long]), undefined];

it.each([
  ['wide', 'NAME STATE\na      good, wide\nlonger good, wide\na      b\\x1bd, wide\n'],
  [
    'json',
    '{"name":"a","state":"good"}\n{"name":"longer","state":"good"}\n{"name":"a","state":"b\\u001bd"}\n',
  ],
  ['yaml', '---\nname: a\nstate: good\n---\nname: longer\nstate: good\n---\nname: a\nstate: b\\x1bd\n'],
  ['name', 'thing/a\nthing/longer\nthing/a\n'],
] as const)('prints %s', async (output, text) => {
  expect(await run(changing, output)).toBe(text);
});

it('does not wait for an answer when the user ends it', async () => {
  const ending = new AbortController();
  const watching = watch(() => new Promise<undefined>(() => {}), 'text', ending.signal);
  ending.abort();
  await watching;
  expect(printed.stdout).toBe('');
});

it('ends with the error of who asks', async () => {
  const failing = watch(() => Promise.reject(new Error('gone')), 'text', new AbortController().signal);
  await expect(failing).rejects.toThrow('gone');
});

it('what costs the proxy much is asked for a tenth of the time at most', () => {
  expect([5, 2_000].map(restAfterCostly)).toEqual([1_000, 18_000]);
});
