/** `npm run fuzz`: random Services through a real proxy and a real kernel, judged by the model (test/model). */

import { readFile, writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import type { Mode } from '../model/objects.js';
import { Testbed } from '../support/testbed/testbed.js';
import { runStory, shrink, type Result } from './run-story.js';
import { storyOf, type Story } from './story.js';

const HELP = `Programs random Services with a real proxy, sends real packets, and compares what they meet with the model.

  npm run fuzz -- --mode MODE --minutes N [--seed S]   from this seed on (1)
  npm run fuzz -- --replay FILE                        what a failure wrote

A failure is made simpler for ten minutes, and written to a file; --unshrunk leaves that out.

Modes: nftables, iptables, and ipvs where the kernel has it.
`;
const MODES: readonly Mode[] = ['nftables', 'iptables', 'ipvs'];
/** How many disagreements are shown. */
const MOST_SHOWN = 10;

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

function printFailure({ seed }: Story, { disagreements }: Result): void {
  print(`seed ${seed}: ${disagreements.length} times something else than the model allows`);
  for (const { step, subject, problem } of disagreements.slice(0, MOST_SHOWN))
    print(`  step ${step}: ${subject}: ${problem}`);
}

async function replay(testbed: Testbed, file: string): Promise<boolean> {
  const story = JSON.parse(await readFile(file, 'utf8')) as Story;
  const result = await runStory(testbed, story);
  if (result.disagreements.length > 0) printFailure(story, result);
  else print(`as the model says: ${JSON.stringify(result.compared)}`);
  return result.disagreements.length === 0;
}

async function fuzz(testbed: Testbed, mode: Mode, minutes: number, seed: number): Promise<boolean> {
  const end = Date.now() + minutes * 60_000;
  const total: Record<string, number> = { stories: 0 };
  for (let next = seed; Date.now() < end; next++) {
    const story = storyOf(next, mode);
    const result = await runStory(testbed, story);
    total.stories!++;
    for (const [what, count] of Object.entries(result.compared)) total[what] = (total[what] ?? 0) + count;
    if (result.disagreements.length === 0) continue;
    printFailure(story, result);
    if (values.unshrunk) return false;
    const file = `fuzz-${mode}-${next}.json`;
    await writeFile(file, JSON.stringify(await shrink(testbed, story), undefined, 1));
    print(`written to ${file}: npm run fuzz -- --replay ${file}`);
    return false;
  }
  print(`${mode} mode, as the model says: ${JSON.stringify(total)}`);
  return true;
}

const { values } = parseArgs({
  options: {
    mode: { type: 'string', default: 'nftables' },
    minutes: { type: 'string', default: '1' },
    seed: { type: 'string', default: '1' },
    replay: { type: 'string' },
    unshrunk: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h' },
  },
});
const mode = MODES.find((one) => one === values.mode);
if (values.help) process.stdout.write(HELP);
else if (!mode) {
  process.stderr.write(`unknown mode ${values.mode}; there are ${MODES.join(', ')}\n`);
  process.exitCode = 2;
} else {
  const testbed = await Testbed.open();
  try {
    const isOk =
      values.replay === undefined
        ? await fuzz(testbed, mode, Number(values.minutes), Number(values.seed))
        : await replay(testbed, values.replay);
    process.exitCode = isOk ? 0 : 1;
  } finally {
    await testbed.close();
  }
}
