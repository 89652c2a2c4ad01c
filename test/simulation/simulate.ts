import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import * as process from 'node:process';
import { parseArgs } from 'node:util';
import { Activities } from './checks/activity.js';
import type { Violation } from './checks/violation.js';
import { balanced, coinciding, ejecting } from './schedule/balanced.js';
import { withFurtherRound } from './schedule/further-rounds.js';
import { modeOf, randomSchedule } from './schedule/random-schedule.js';
import { parseSchedule, scheduleText, type Schedule } from './schedule/schedule.js';
import { shrunk } from './schedule/shrink.js';
import { Simulation, type Outcome } from './simulation.js';
import { world } from './world/current.js';
import { MODES } from './world/settings.js';

/** What one process simulates. scripts/simulate.mjs starts several, and explains the options that people give. */
const OPTIONS = {
  seed: { type: 'string' },
  from: { type: 'string', default: '1' },
  seeds: { type: 'string', default: '100' },
  /** Several processes share the seeds: the number of this one, from 0, and of all. */
  worker: { type: 'string', default: '0' },
  workers: { type: 'string', default: '1' },
  /** No world begins after this time, in milliseconds since the epoch. */
  until: { type: 'string' },
  /** Only seeds of worlds that begin in these modes, separated by commas. */
  modes: { type: 'string' },
  schedule: { type: 'string', multiple: true },
  log: { type: 'boolean', default: false },
  digest: { type: 'boolean', default: false },
  stop: { type: 'boolean', default: false },
  unshrunk: { type: 'boolean', default: false },
} as const;

type Options = ReturnType<typeof optionsIn>;

const print = (line: string): boolean => process.stdout.write(`${line}\n`);

/** @returns the exit code: 1 if a promise was broken */
export async function simulate(argv: readonly string[]): Promise<number> {
  const options = optionsIn(argv);
  let [worlds, commits, failures] = [0, 0, 0];
  const activities = new Activities();
  for (const schedule of schedulesOf(options)) {
    const outcome = await outcomeOf(schedule, options);
    activities.add(schedule.settings.mode, outcome.active);
    worlds++;
    commits += outcome.commits;
    if (!outcome.violation) continue;
    failures++;
    print(await failureText(schedule, outcome.violation, options));
    if (options.stop) break;
  }
  print(`activities ${JSON.stringify(activities)}`);
  print(`${worlds} worlds, ${commits} commits, ${failures} failures`);
  return failures > 0 ? 1 : 0;
}

function optionsIn(argv: readonly string[]) {
  return parseArgs({ args: [...argv], options: OPTIONS }).values;
}

function* schedulesOf({ schedule, seed, ...range }: Options): Generator<Schedule> {
  if (schedule) for (const file of schedule) yield parseSchedule(readFileSync(file, 'utf8'));
  else if (seed !== undefined) yield scheduleOf(Number(seed));
  else for (const next of seedsOf(range)) yield scheduleOf(next);
}

function scheduleOf(seed: number): Schedule {
  return ejecting(coinciding(balanced(withFurtherRound(randomSchedule(seed)))));
}

function* seedsOf(range: Omit<Options, 'schedule' | 'seed'>): Generator<number> {
  const [from, seeds, worker, workers] = [range.from, range.seeds, range.worker, range.workers].map(Number);
  const modes: readonly string[] = range.modes?.split(',') ?? MODES;
  const end = Number(range.until ?? Infinity);
  for (let seed = from!, count = 0; count < seeds! && globalThis.Date.now() < end; seed++) {
    if (!modes.includes(modeOf(seed))) continue;
    // Each process takes all modes in turn, as some cost more than others.
    if (Math.floor(count++ / MODES.length) % workers! === worker) yield seed;
  }
}

async function outcomeOf(schedule: Schedule, { log, digest }: Options): Promise<Outcome> {
  const outcome = await new Simulation(schedule).run();
  if (log) for (const line of logLines()) print(line);
  if (digest) print(`seed ${schedule.settings.seed}: ${digestOf(outcome)}`);
  return outcome;
}

/** What the program has logged in the world that was simulated last. */
function logLines(): readonly string[] {
  return world.log.map(
    ({ at, level, message, facts }) =>
      `${((at - world.beganAt) / 1000).toFixed(3)} ${level} ${message} ${JSON.stringify(facts, withMessages)}`,
  );
}

/** Equal where a world went the same way. */
function digestOf({ commits, turns }: Outcome): string {
  const told = [...logLines(), `${commits} commits`, `${turns} turns`].join('\n');
  return createHash('sha256').update(told).digest('hex');
}

/** Errors have no fields that JSON shows. */
function withMessages(_name: string, value: unknown): unknown {
  return value instanceof Error ? value.message : value;
}

async function failureText(schedule: Schedule, violation: Violation, { unshrunk }: Options): Promise<string> {
  const found = unshrunk ? { schedule, violation } : await shrunk(schedule, violation);
  const { promise, detail, at } = found.violation;
  return `BROKEN after ${(at / 1000).toFixed(3)} s: ${promise}: ${detail}\n${scheduleText(found.schedule)}`;
}
