import { runSimulation } from './run-simulation.js';

/** Milliseconds; nothing depends on them. */
const LIMIT = 900_000;

it(
  'no promise is broken in three hundred worlds of all modes',
  async () => {
    const { text, exitCode } = await runSimulation('--seeds=300');
    // What broke is printed with its seed and its schedule.
    expect(text).toMatch(/^300 worlds, \d+ commits, 0 failures, /);
    expect(exitCode).toBe(0);
  },
  LIMIT,
);
