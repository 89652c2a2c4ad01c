import { spawn, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const ACTIVITIES = /^activities (.*)$/;
const TALLY = /^(\d+) worlds, (\d+) commits, (\d+) failures$/;

/** A Node that takes 15 to 20 per cent less time for a world than the one that the program needs at least. */
const FAST = 26;

/**
 * What workers run on: the newer Node if `setup.sh tests` has installed it, else the one that runs this. The same seed gives the
 * same world on 20 and 26.
 */
const NODE = fastNode() ?? { path: process.execPath, major: Number.parseInt(process.versions.node) };

/** Its major version. */
export const nodeOfWorkers = NODE.major;

/**
 * Most objects of a world do not outlast it: the less often garbage is collected, the fewer are copied because they are still needed
 * just then. Worlds take different ways through the program, so that little of it is worth being optimized well, and each core has its
 * own process, so more threads do not help (docs/internals/simulation.md).
 */
const FOR_SPEED = [
  '--min-semi-space-size=64',
  '--max-semi-space-size=64',
  '--single-threaded-gc',
  // Old objects are few: rare marking in one step costs less than permanent tracking.
  '--no-incremental-marking',
  // Newer versions do not have all of these options, and are slower with the others.
  ...(NODE.major < FAST
    ? ['--always-sparkplug', '--no-minor-gc-task', '--interrupt-budget=500000']
    : ['--no-turbofan']),
];

/** Stack traces are for single worlds only: in runs of many they are not read, and cost a fifteenth of the time. */
const stacksFor = (args) =>
  args.some((arg) => /^--(seed|schedule)=/.test(arg)) ? '--enable-source-maps' : '--stack-trace-limit=0';

function fastNode() {
  if (Number.parseInt(process.versions.node) >= FAST) return undefined;
  const folder = spawnSync('sh', ['scripts/node-release.sh', `${FAST}`], { encoding: 'utf8' }).stdout.trim();
  return folder === '' ? undefined : { path: join(folder, 'node'), major: FAST };
}

/**
 * Simulates worlds in a process of its own.
 * @param program the bundle
 * @param args of test/simulation/simulate.ts
 * @param told called with each line that it prints
 * @returns how many worlds there were, how many commits in them, and how many of them broke a promise; in how many of its worlds each
 *   check was active; `worked` is false if the simulation itself failed
 */
export async function runWorker(program, args, told) {
  const child = spawn(NODE.path, [...FOR_SPEED, stacksFor(args), program, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let tally;
  let activities = {};
  for await (const line of createInterface({ input: child.stdout })) {
    const found = TALLY.exec(line);
    const counted = ACTIVITIES.exec(line);
    if (found) tally = found.slice(1).map(Number);
    else if (counted) activities = JSON.parse(counted[1]);
    else told(line);
  }
  const [worlds, commits, failures] = tally ?? [0, 0, 0];
  return { worlds, commits, failures, activities, worked: tally !== undefined };
}

/** What several processes came to. */
export function totalOf(tallies) {
  const sum = (name) => tallies.reduce((total, tally) => total + tally[name], 0);
  return { worlds: sum('worlds'), commits: sum('commits'), failures: sum('failures') };
}

/** Too few worlds to tell that a check is rarely active. */
const FEW_WORLDS = 50;
const ACTIVE_IN = 0.1;

/** Checks that were active in too few of the worlds in which they might have been, each with its numbers. */
export function idleChecks(tallies) {
  const totals = new Map();
  for (const { activities } of tallies)
    for (const [name, { active, worlds }] of Object.entries(activities)) {
      const before = totals.get(name) ?? { active: 0, worlds: 0 };
      totals.set(name, { active: before.active + active, worlds: before.worlds + worlds });
    }
  return [...totals]
    .filter(([, { active, worlds }]) => worlds >= FEW_WORLDS && active < worlds * ACTIVE_IN)
    .map(([name, { active, worlds }]) => `check '${name}' was active in ${active} of ${worlds} worlds only`);
}
