/** `npm run fuzz`: random Services through a real proxy and a real kernel, judged by the model (test/model). */

import { readFile, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { runStory, shrink, type Result } from './run-story.js';
import { FUZZ_MODES, supportedModes, type FuzzMode } from './story-node.js';
import { storyOf, type Story } from './story.js';

const HELP = `Programs random Services with a real proxy, sends real packets, and compares what they meet with the model.

  npm run fuzz -- --mode MODE --minutes N [--seed S]   from this seed on (1)
  npm run fuzz -- --replay FILE                        what a failure wrote
  npm run fuzz -- --modes                              the modes that this kernel has

--jobs sets how many stories run at once, by default two for each processor. A failure is simplified for ten minutes and written to a
file; --unshrunk skips that.

Modes: ${FUZZ_MODES.join(', ')}.
`;
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

async function replay(file: string): Promise<boolean> {
  const story = JSON.parse(await readFile(file, 'utf8')) as Story;
  const result = await runStory(story);
  if (result.disagreements.length > 0) printFailure(story, result);
  else print(`as the model says: ${JSON.stringify(result.compared)}`);
  return result.disagreements.length === 0;
}

async function fuzz(mode: FuzzMode, seed: number): Promise<boolean> {
  const supported = await supportedModes();
  if (!supported.includes(mode)) {
    print(`this kernel lacks ${mode} mode; it has ${supported.join(', ')}`);
    return false;
  }
  const end = Date.now() + Number(values.minutes) * 60_000;
  const total: Record<string, number> = { stories: 0 };
  let next = seed;
  let failing: Story | undefined;
  const job = async (): Promise<void> => {
    while (Date.now() < end && !failing) {
      const story = storyOf(next++, mode, supported);
      const result = await runStory(story);
      total.stories!++;
      for (const [what, count] of Object.entries(result.compared)) total[what] = (total[what] ?? 0) + count;
      if (result.disagreements.length === 0 || failing) continue;
      failing = story;
      printFailure(story, result);
    }
  };
  await Promise.all(Array.from({ length: Number(values.jobs) }, job));
  if (!failing) print(`${mode} mode, as the model says: ${JSON.stringify(total)}`);
  else if (!values.unshrunk) {
    const file = `fuzz-${mode}-${failing.seed}.json`;
    await writeFile(file, JSON.stringify(await shrink(failing), undefined, 1));
    print(`written to ${file}: npm run fuzz -- --replay ${file}`);
  }
  return !failing;
}

const { values } = parseArgs({
  options: {
    mode: { type: 'string', default: 'nftables' },
    modes: { type: 'boolean', default: false },
    minutes: { type: 'string', default: '1' },
    seed: { type: 'string', default: '1' },
    jobs: { type: 'string', default: String(2 * availableParallelism()) },
    replay: { type: 'string' },
    unshrunk: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h' },
  },
});
const mode = FUZZ_MODES.find((one) => one === values.mode);
if (values.help) process.stdout.write(HELP);
else if (values.modes) print((await supportedModes()).join('\n'));
else if (!mode) {
  process.stderr.write(`unknown mode ${values.mode}; there are ${FUZZ_MODES.join(', ')}\n`);
  process.exitCode = 2;
} else {
  const isOk =
    values.replay === undefined ? await fuzz(mode, Number(values.seed)) : await replay(values.replay);
  process.exitCode = isOk ? 0 : 1;
}
