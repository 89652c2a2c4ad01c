import { SharedWork } from '../../../../src/diagnostics/application/difference/diff.js';

let runs: { signal: AbortSignal; finish: (result: string) => void; fail: (error: Error) => void }[];
let work: SharedWork<string>;
const stays = new AbortController().signal;

beforeEach(() => {
  runs = [];
  work = new SharedWork((signal) => new Promise((finish, fail) => void runs.push({ signal, finish, fail })));
});

it('is done once for all who ask while it runs, and anew for who asks later', async () => {
  const asked = [work.ask(stays), work.ask(stays), work.ask(stays)];
  runs[0]!.finish('first');
  expect(await Promise.all(asked)).toEqual(['first', 'first', 'first']);
  const later = work.ask(stays);
  runs[1]!.finish('second');
  expect(await later).toBe('second');
  expect(runs).toHaveLength(2);
});

it('fails for all who share it, and begins anew', async () => {
  const asked = Promise.allSettled([work.ask(stays), work.ask(stays)]);
  runs[0]!.fail(new Error('no luck'));
  expect((await asked).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  const later = work.ask(stays);
  runs[1]!.finish('second');
  expect(await later).toBe('second');
});

it('goes on while one still waits, and is aborted when the last has left', async () => {
  const [one, other] = [new AbortController(), new AbortController()];
  const asked = [work.ask(one.signal), work.ask(other.signal)];
  one.abort(new Error('left'));
  await expect(asked[0]).rejects.toThrow('left');
  expect(runs[0]!.signal.aborted).toBe(false);
  other.abort(new Error('left, too'));
  await expect(asked[1]).rejects.toThrow('left, too');
  expect(runs[0]!.signal.aborted).toBe(true);
  const later = work.ask(stays);
  runs[0]!.fail(new Error('aborted'));
  runs[1]!.finish('second');
  expect(await later).toBe('second');
});

it('is not begun for who has left already', async () => {
  await expect(work.ask(AbortSignal.abort(new Error('left')))).rejects.toThrow('left');
  expect(runs).toEqual([]);
});
