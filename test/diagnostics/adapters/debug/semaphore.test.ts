import { Semaphore } from '../../../../src/diagnostics/adapters/debug/report-routes.js';

let semaphore: Semaphore;
let begun: number[];
let finish: Map<number, (error?: Error) => void>;

beforeEach(() => {
  semaphore = new Semaphore(2);
  begun = [];
  finish = new Map();
});

function take(number: number, signal = new AbortController().signal): Promise<number> {
  return semaphore.run(signal, () => {
    begun.push(number);
    return new Promise((resolve, reject) =>
      finish.set(number, (error) => (error ? reject(error) : resolve(number))),
    );
  });
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

it('does two things at a time, in the order in which they are asked for, whether they fail or not', async () => {
  const results = Promise.allSettled([1, 2, 3, 4].map((number) => take(number)));
  await settled();
  expect(begun).toEqual([1, 2]);
  finish.get(2)!(new Error('no luck'));
  const fifth = take(5);
  await settled();
  expect(begun).toEqual([1, 2, 3]);
  finish.get(1)!();
  finish.get(3)!();
  await settled();
  expect(begun).toEqual([1, 2, 3, 4, 5]);
  finish.get(4)!();
  finish.get(5)!();
  expect((await results).map(({ status }) => status)).toEqual([
    'fulfilled',
    'rejected',
    'fulfilled',
    'fulfilled',
  ]);
  expect(await fifth).toBe(5);
});

it('does not begin what nobody wants any more, and gives its place to the next', async () => {
  const leaving = new AbortController();
  const first = [take(1), take(2)];
  const third = take(3, leaving.signal);
  const fourth = take(4);
  leaving.abort(new Error('left'));
  finish.get(1)!();
  await expect(third).rejects.toThrow('left');
  await settled();
  expect(begun).toEqual([1, 2, 4]);
  finish.get(2)!();
  finish.get(4)!();
  expect(await Promise.all([...first, fourth])).toEqual([1, 2, 4]);
});
