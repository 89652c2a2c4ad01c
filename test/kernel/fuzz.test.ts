import { runStory } from '../fuzz/run-story.js';
import { supportedModes, type FuzzMode } from '../fuzz/story-node.js';
import { storyOf } from '../fuzz/story.js';

const MILLISECONDS = 60_000;

/** Runs stories of a mode until the time is over. The same each time, so that a failure is due to a change. Others: npm run fuzz */
async function runStories(mode: FuzzMode, supported: readonly FuzzMode[]): Promise<void> {
  const end = Date.now() + MILLISECONDS;
  for (let seed = 1; Date.now() < end; seed++) {
    const { disagreements, compared } = await runStory(storyOf(seed, mode, supported));
    expect({ mode, seed, disagreements }).toEqual({ mode, seed, disagreements: [] });
    expect(compared.packets).toBeGreaterThan(0);
  }
}

// All modes at once: they wait more than they work. The limit is far beyond what a story takes.
it('packets meet what the model allows, in all modes that this kernel has', async () => {
  const supported = await supportedModes();
  process.stdout.write(`fuzz in these modes: ${supported.join(', ')}\n`);
  expect(supported).toEqual(expect.arrayContaining(['nftables', 'iptables', 'userspace']));
  await Promise.all(supported.map((mode) => runStories(mode, supported)));
}, 900_000);
