import { MemoryLogger } from '../../../src/testing/fakes/memory-logger.js';
import { MemoryNftTransport } from '../../support/fakes/memory-nft-transport.js';
import { GenerationWatch } from '../../../src/adapters/nftables/generation-watch.js';
import { nftablesBackend } from '../../../src/adapters/nftables/nftables-driver.js';
import { sampleEntry, sampleNode } from '../../../src/testing/contract/sample-services.js';
import { IP_FAMILIES, type IpFamily } from '../../../src/domain/net/ip-family.js';
import type { Operation } from '../../../src/domain/nftables/layout/table.js';

/** A promise, and what settles it. */
function gate(): { readonly opened: Promise<void>; open(): void } {
  let open!: () => void;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open };
}

const ONE = () => ({ commits: 1 });

describe('GenerationWatch', () => {
  let generation = 100;
  let asking: Promise<void>;
  let watch: GenerationWatch;
  beforeEach(() => {
    asking = Promise.resolve();
    const ask = async () => {
      await asking;
      return generation;
    };
    watch = new GenerationWatch({ generation: ask });
  });

  it('takes our own commits for our own', async () => {
    const before = await watch.epoch();
    await watch.ours(
      () => Promise.resolve((generation += 3)),
      () => ({ commits: 3 }),
    );
    await watch.ours(() => Promise.resolve(generation++), ONE);
    expect(await watch.epoch()).toBe(before);
    generation++;
    expect(await watch.epoch()).not.toBe(before);
  });

  it('has no answer while we write, and hides nothing that comes after', async () => {
    const before = await watch.epoch();
    const { opened, open } = gate();
    const writing = watch.ours(() => {
      generation++;
      return opened;
    }, ONE);
    const asked = watch.epoch();
    open();
    await writing;
    expect(await asked).toBe(before);
    generation++;
    expect(await watch.epoch()).not.toBe(before);
  });

  it('asks again when we wrote while the kernel was asked', async () => {
    const before = await watch.epoch();
    const { opened, open } = gate();
    asking = opened;
    const asked = watch.epoch();
    await watch.ours(() => Promise.resolve(generation++), ONE);
    open();
    expect(await asked).toBe(before);
    generation++;
    expect(await watch.epoch()).not.toBe(before);
  });

  it('does not count what was refused', async () => {
    const before = await watch.epoch();
    await expect(watch.ours(() => Promise.reject(new Error('refused')), ONE)).rejects.toThrow('refused');
    expect(await watch.epoch()).toBe(before);
  });
});

/** Answers a commit only when it is let. */
class SlowKernel extends MemoryNftTransport {
  answering = Promise.resolve();

  override async commit(family: IpFamily, operations: readonly Operation[]): Promise<void> {
    await super.commit(family, operations);
    await this.answering;
  }
}

it('a change by another program is found after a family looked while the other one was writing', async () => {
  const kernel = new SlowKernel();
  const watch = new GenerationWatch(kernel);
  const [one, other] = IP_FAMILIES.map((family) =>
    nftablesBackend(family, kernel, watch, new MemoryLogger()),
  );
  for (const backend of [one!, other!]) await backend.start([], sampleNode(backend.family));
  const sound = kernel.dump('IPv6');

  const { opened, open } = gate();
  kernel.answering = opened;
  const entry = sampleEntry('IPv4', 'web', { number: 1, endpoints: 1 });
  const applying = one!.apply([{ key: entry.key, entry }], sampleNode('IPv4'));
  await new Promise(setImmediate);
  const looking = other!.verify('quick');
  await new Promise(setImmediate);
  open();
  await Promise.all([applying, looking]);
  kernel.tamper('IPv6', [{ op: 'flush-chain', chain: 'masquerading' }]);
  await other!.verify('quick');
  expect(kernel.dump('IPv6')).toBe(sound);
});
