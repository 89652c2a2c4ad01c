import { readFileSync } from 'node:fs';
import * as process from 'node:process';
import { parseArgs } from 'node:util';
import type { Violation } from './checks/violation.js';
import { randomSchedule } from './schedule/random-schedule.js';
import { parseSchedule, scheduleText, type Schedule } from './schedule/schedule.js';
import { shrunk } from './schedule/shrink.js';
import { Simulation } from './simulation.js';
import { world } from './world/current.js';

const print = (line: string): boolean => process.stdout.write(`${line}\n`);

/**
 * Simulates what the command line asks for: `--seed N`, `--from N --seeds COUNT [--step N]`, `--schedule FILE`; `--log` shows what
 * the program logs, `--stop` ends at the first failure.
 * @returns the exit code: 1 if a promise was broken
 */
export async function simulate(argv: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      seed: { type: 'string' },
      from: { type: 'string', default: '1' },
      seeds: { type: 'string', default: '100' },
      step: { type: 'string', default: '1' },
      until: { type: 'string' },
      schedule: { type: 'string' },
      log: { type: 'boolean', default: false },
      stop: { type: 'boolean', default: false },
      unshrunk: { type: 'boolean', default: false },
    },
  });
  if (values.schedule !== undefined) {
    const schedule = parseSchedule(readFileSync(values.schedule, 'utf8'));
    const { violation } = await outcomeOf(schedule, values.log);
    if (violation) print(describe(schedule, violation));
    return violation ? 1 : 0;
  }
  const from = Number(values.seed ?? values.from);
  const count = values.seed === undefined ? Number(values.seeds) : 1;
  const end = values.until === undefined ? Infinity : Number(values.until);
  let failures = 0;
  let worlds = 0;
  let commits = 0;
  for (let index = 0; index < count && Date.now() < end; index++) {
    const schedule = randomSchedule(from + index * Number(values.step));
    const outcome = await outcomeOf(schedule, values.log);
    worlds++;
    commits += outcome.commits;
    if (!outcome.violation) continue;
    failures++;
    const found = { schedule, violation: outcome.violation };
    const { schedule: small, violation } = values.unshrunk ? found : await shrunk(schedule, outcome.violation);
    print(describe(small, violation));
    if (values.stop) break;
  }
  print(`${worlds} worlds, ${commits} commits, ${failures} failures`);
  return failures > 0 ? 1 : 0;
}

async function outcomeOf(schedule: Schedule, showLog: boolean) {
  const simulation = new Simulation(schedule);
  const outcome = await simulation.run();
  if (showLog)
    for (const { at, level, message, facts } of world.log)
      print(`${((at - world.beganAt) / 1000).toFixed(3)} ${level} ${message} ${JSON.stringify(facts, withMessages)}`);
  return outcome;
}

/** Errors have no fields that JSON shows. */
function withMessages(_name: string, value: unknown): unknown {
  return value instanceof Error ? value.message : value;
}

function describe(schedule: Schedule, { promise, detail, at }: Violation): string {
  return `BROKEN after ${(at / 1000).toFixed(3)} s: ${promise}: ${detail}\n${scheduleText(schedule)}`;
}
