import { runSimulation } from './run-simulation.js';

/** Milliseconds; nothing depends on them. */
const LIMIT = 600_000;
describe('simulated worlds', () => {
  it(
    'are the same for the same seed',
    async () => {
      const [one, other] = await Promise.all([1, 2].map(() => runSimulation('--seeds=4', '--digest')));
      const digests = one!.text.match(/seed \d+: [0-9a-f]{64}/g) ?? [];
      expect(digests).toHaveLength(4);
      expect(other!.text.match(/seed \d+: [0-9a-f]{64}/g)!.toSorted()).toEqual(digests.toSorted());
    },
    LIMIT,
  );

  it(
    'show faults that are planted',
    async () => {
      const names = ['unready-endpoints-serve', 'external-traffic-without-its-mark'];
      const { text, exitCode } = await runSimulation('--planted', ...names.map((name) => `--name=${name}`));
      for (const name of names) expect(text).toContain(`${name}: found in world `);
      expect(text).toContain('2 of 2 planted faults are found');
      expect(exitCode).toBe(0);
    },
    LIMIT,
  );
});
