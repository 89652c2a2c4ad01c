import { runStory } from '../fuzz/run-story.js';
import { storyOf } from '../fuzz/story.js';
import { Testbed } from '../support/testbed/testbed.js';

/** For each mode. */
const MILLISECONDS = 25_000;

let testbed: Testbed;
beforeAll(async () => {
  testbed = await Testbed.open();
});
afterAll(() => testbed.close());

it.each(['nftables', 'iptables'] as const)('packets meet what the model allows in %s mode', async (mode) => {
  const end = Date.now() + MILLISECONDS;
  let packets = 0;
  for (let seed = 1; Date.now() < end; seed++) {
    const result = await runStory(testbed, storyOf(seed, mode));
    packets += result.compared.packets;
    // The same stories each time, so that a failure is due to a change. Others: npm run fuzz -- --mode MODE --seed SEED
    expect({ seed, found: result.disagreements }).toEqual({ seed, found: [] });
  }
  expect(packets).toBeGreaterThan(0);
});
