import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ShellCheck } from '../../../../src/adapters/cli/migration/shell-check.js';
import { until } from '../../../support/until.js';

const check = (command: string, signal = new AbortController().signal) =>
  new ShellCheck(command).check('n1', signal);

it('is healthy where the command ends with 0, and knows the node', async () => {
  expect(await check('test "$NODE" = n1')).toBeUndefined();
});

it.each([
  ['exit 7', 'it ended with 7'],
  ['echo first; echo no page >&2; exit 1', 'it ended with 1: no page'],
  ['kill -9 $$', 'it was ended by SIGKILL'],
])('tells how %j ended', async (command, words) => {
  expect(await check(command)).toBe(words);
});

it('an abort ends the command and what it started', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'shell-check-'));
  const stop = new AbortController();
  const file = join(folder, 'pid');
  const checking = check(`sleep 1000 & echo $! >${file}; wait`, stop.signal);
  const pid = async () => Number(await readFile(file, 'utf8').catch(() => ''));
  await until('the command runs', async () => (await pid()) > 0);
  stop.abort(new Error('interrupted'));
  await expect(checking).rejects.toThrow('interrupted');
  const started = await pid();
  await until('what it started has ended', () => Promise.resolve(!isRunning(started)));
  await rm(folder, { recursive: true });
});

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
