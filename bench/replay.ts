import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { PHASES, type Phase } from './phase.js';
import type { ToolTimes } from './report.js';
import { RestoreRecorder, type Recording } from './restore-recorder.js';
import { median } from './statistics.js';

/*
 * `node replay.js FOLDER` runs the tools again on the inputs that a RestoreRecorder keeps in the folder, without the
 * proxy, and prints ToolTimes as one line of JSON. Runs in the namespace of a BenchHost.
 */

async function run({ command, input }: Recording): Promise<number> {
  const [file, ...parameters] = command;
  const stdin = openSync(input, 'r');
  try {
    const began = performance.now();
    const tool = spawn(file!, parameters, { stdio: [stdin, 'ignore', 'inherit'] });
    const [status] = (await once(tool, 'exit')) as [number | null];
    if (status !== 0) throw new Error(`${command.join(' ')} < ${input} ended with status ${status}`);
    return performance.now() - began;
  } finally {
    closeSync(stdin);
  }
}

const times = Object.fromEntries(PHASES.map((phase) => [phase, []])) as unknown as Record<Phase, number[]>;
for (const recording of await new RestoreRecorder(process.argv[2]!).recordings())
  times[recording.phase].push(await run(recording));

const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);
const result: ToolTimes = {
  firstSync: sum(times.first),
  changeP50: median(times.change),
  burst: sum(times.burst),
};
console.log(JSON.stringify(result));
