import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { promisify } from 'node:util';
import { nightly } from '../support/nightly.js';

const run = promisify(execFile);

/** Namespaces of measurements whose process has ended. */
async function abandoned(): Promise<string[]> {
  const names = await readdir('/run/netns').catch(() => []);
  return names.filter((name) => name.startsWith('bench-') && !existsSync(name.replace('bench-', '/proc/')));
}

describe('npm run bench', () => {
  it('measures one size on the Node of the image, finds a restart without writes, and leaves nothing behind', async () => {
    const before = await abandoned();
    const { stdout } = await run(process.execPath, ['bench/run.mjs', '--services', '40', '--endpoints', '3']);
    const [version, , ...lines] = stdout.trim().split('\n');
    expect(version).toMatch(/^Node v24\./);
    expect(lines).toHaveLength(3);
    expect(lines[2]).toMatch(/^\| 40 × 3 \|.*, 0 writes \| \d+, \d+, \d+ MB \|$/);
    expect(await abandoned()).toEqual(before);
  });

  if (nightly)
    it('measures mode ipvs on a kernel of its own', async () => {
      const only = ['--this-node', '--mode', 'ipvs', '--services', '20'];
      const { stdout } = await run(process.execPath, ['bench/run.mjs', ...only]);
      expect(stdout.trim().split('\n').at(-1)).toMatch(/^\| 20 × 5 \|.*, 0 writes \| \d+, \d+, \d+ MB \|$/);
    }, 180_000);

  it('says what is wrong with its arguments', async () => {
    // What bench/run.mjs has built for the measurements above.
    await expect(run(process.execPath, ['build/bench/main.js', '--services', 'many'])).rejects.toThrow(
      '--services takes a positive number, not "many"',
    );
  });
});
