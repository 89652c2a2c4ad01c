import { readdirSync } from 'node:fs';
import { runSimulation } from '../run-simulation.js';

/** Milliseconds; nothing depends on them. */
const LIMIT = 300_000;
const FOLDER = 'test/simulation/found';

/* Each of these schedules once broke a promise of the program, as its first line says. */
it(
  'breaks no promise any more in what was found',
  async () => {
    const files = readdirSync(FOLDER).filter((name) => name.endsWith('.txt'));
    const { text, exitCode } = await runSimulation(...files.map((name) => `--schedule=${FOLDER}/${name}`));
    expect(text).toMatch(new RegExp(`^${files.length} worlds, \\d+ commits, 0 failures, `));
    expect(exitCode).toBe(0);
  },
  LIMIT,
);
