import { NftWatch } from '../../../src/adapters/iptables/nft-watch.js';
import { GenerationWatch } from '../../../src/adapters/nftables/generation-watch.js';
import type { NftTransport } from '../../../src/adapters/nftables/transport.js';

const OUTCOME = { lockWaitSeconds: 0 };

describe('NftWatch', () => {
  let generation = 100;
  let watch: NftWatch;
  beforeEach(() => {
    const transport = { generation: () => Promise.resolve(generation) } as NftTransport;
    watch = new NftWatch(new GenerationWatch(transport));
  });

  it('takes our own commits for our own', async () => {
    const before = await watch.epoch();
    await watch.ours(
      () => {
        generation += 3;
        return Promise.resolve(OUTCOME);
      },
      () => ({ commits: 3, entriesGained: undefined }),
    );
    expect(await watch.epoch()).toBe(before);
    generation++;
    expect(await watch.epoch()).not.toBe(before);
  });

  it('has no answer while the other family writes', async () => {
    const before = await watch.epoch();
    let finish!: () => void;
    const writing = watch.ours(
      () => {
        generation++;
        return new Promise((resolve) => (finish = () => resolve(OUTCOME)));
      },
      () => ({ commits: 2, entriesGained: undefined }),
    );
    const asked = watch.epoch();
    generation++;
    finish();
    await writing;
    expect(await asked).toBe(before);
  });

  it('knows nothing of what a refused restore did before', async () => {
    const before = await watch.epoch();
    const refused = watch.ours(
      () => {
        generation++;
        return Promise.reject(new Error('refused'));
      },
      () => ({ commits: 2, entriesGained: undefined }),
    );
    await expect(refused).rejects.toThrow('refused');
    expect(await watch.epoch()).not.toBe(before);
  });
});
