import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runSimulation } from './run-simulation.js';

/** Milliseconds; nothing depends on them. */
const LIMIT = 600_000;
describe('simulated worlds', () => {
  it(
    'are the same for the same seed, whatever was simulated before in the same process',
    async () => {
      const [together, ...alone] = await Promise.all(
        ['--seeds=4', '--seed=2', '--seed=3', '--seed=4'].map((seeds) => runSimulation(seeds, '--digest')),
      );
      const digests = digestsIn(together!.text);
      expect(digests).toHaveLength(4);
      expect(alone.flatMap(({ text }) => digestsIn(text))).toEqual(digests.slice(1));
    },
    LIMIT,
  );

  it(
    'show a failure again when its shrunk schedule is played',
    async () => {
      const fault = '--name=unready-endpoints-serve';
      const { text } = await runSimulation(fault, '--seeds=200', '--stop');
      const [failure = ''] = text.split('\n\n');
      const folder = await mkdtemp(join(tmpdir(), 'shrunk-'));
      const schedule = join(folder, 'schedule');
      await writeFile(schedule, failure);
      const again = await runSimulation(fault, `--schedule=${schedule}`, '--unshrunk');
      await rm(folder, { recursive: true });
      expect(failure).toMatch(/^BROKEN /);
      expect(again.text.split('\n\n')[0]).toBe(failure);
    },
    LIMIT,
  );

  it(
    'show faults that are planted',
    async () => {
      const names = ['unready-endpoints-serve', 'external-traffic-without-its-mark'];
      const { text, exitCode } = await runSimulation(
        '--planted',
        '--from=1',
        ...names.map((name) => `--name=${name}`),
      );
      for (const name of names) expect(text).toContain(`${name}: found in world `);
      expect(text).toContain('2 of 2 planted faults are found');
      expect(exitCode).toBe(0);
    },
    LIMIT,
  );
});

function digestsIn(text: string): readonly string[] {
  return text.match(/seed \d+: [0-9a-f]{64}/g) ?? [];
}
