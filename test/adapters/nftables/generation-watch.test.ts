import { nftablesBackend } from '../../support/backends.js';
import fc from 'fast-check';
import { MemoryLogger } from '../../../src/testing/fakes/memory-logger.js';
import { MemoryNftTransport } from '../../support/fakes/memory-nft-transport.js';
import { GenerationWatch } from '../../../src/adapters/nftables/generation-watch.js';
import { sampleEntry, sampleNode } from '../../../src/testing/contract/sample-services.js';
import { IP_FAMILIES, type IpFamily } from '../../../src/domain/net/ip-family.js';
import type { Operation } from '../../../src/domain/nftables/layout/table.js';

/** A promise, and what settles it. */
function gate(): { readonly opened: Promise<void>; open(): void } {
  let open!: () => void;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open };
}

/** A kernel that numbers what is committed. */
class Kernel {
  generation = 100;
  asking = Promise.resolve();

  /** Returns the number, which the kernel reports to who commits. */
  readonly commit = () => (this.generation = (this.generation + 1) >>> 0 || 1);

  /** For the watch. */
  readonly transport = {
    generation: async () => {
      await this.asking;
      return this.generation;
    },
  };
}

const reported = (...generations: number[]) => ({ generations });

describe('GenerationWatch', () => {
  let kernel: Kernel;
  let watch: GenerationWatch;
  beforeEach(() => {
    kernel = new Kernel();
    watch = new GenerationWatch(kernel.transport);
  });

  /** A write of ours: so many commits that change something. */
  const write = (count = 1) =>
    watch.ours(
      () => Promise.resolve(Array.from({ length: count }, kernel.commit)),
      (generations) => ({ generations }),
    );

  it('takes our own commits for our own', async () => {
    const before = await watch.epoch();
    await write(3);
    await write();
    expect(await watch.epoch()).toBe(before);
    kernel.commit();
    expect(await watch.epoch()).not.toBe(before);
  });

  it('sees a foreign commit beside a write of ours that changed nothing', async () => {
    const before = await watch.epoch();
    kernel.commit();
    await write(0);
    expect(await watch.epoch()).not.toBe(before);
  });

  it.each([
    ['before', (generation: number) => [generation + 1]],
    ['after', (generation: number) => [generation]],
  ])('sees a foreign commit right %s one of ours', async (_, ours) => {
    const before = await watch.epoch();
    const [own] = ours(kernel.generation + 1);
    await watch.ours(
      () => {
        kernel.commit();
        kernel.commit();
        return Promise.resolve();
      },
      () => reported(own!),
    );
    expect(await watch.epoch()).not.toBe(before);
  });

  it('takes what the kernel did not report for foreign', async () => {
    const before = await watch.epoch();
    await watch.ours(
      () => Promise.resolve(kernel.commit()),
      () => ({}),
    );
    expect(await watch.epoch()).not.toBe(before);
  });

  it('goes on when the numbers start over', async () => {
    kernel.generation = 0xffff_fffe;
    const before = await watch.epoch();
    await write(3);
    expect(kernel.generation).toBe(2);
    expect(await watch.epoch()).toBe(before);
  });

  it('has no answer while we write, and hides nothing that comes after', async () => {
    const before = await watch.epoch();
    const { opened, open } = gate();
    const writing = watch.ours(async () => {
      const generation = kernel.commit();
      await opened;
      return generation;
    }, reported);
    const asked = watch.epoch();
    open();
    await writing;
    expect(await asked).toBe(before);
    kernel.commit();
    expect(await watch.epoch()).not.toBe(before);
  });

  it('asks again when we wrote while the kernel was asked', async () => {
    const before = await watch.epoch();
    const { opened, open } = gate();
    kernel.asking = opened;
    const asked = watch.epoch();
    await write();
    open();
    expect(await asked).toBe(before);
    kernel.commit();
    expect(await watch.epoch()).not.toBe(before);
  });

  it('stays in its epoch when all of a write was refused', async () => {
    const before = await watch.epoch();
    await expect(watch.ours(() => Promise.reject(new Error('refused')), reported)).rejects.toThrow('refused');
    expect(await watch.epoch()).toBe(before);
  });

  it('begins an epoch if and only if another program committed, however writes overlap', async () => {
    const step = fc.record({
      /** Who commits next: one of two families, or another program. */
      who: fc.constantFrom('IPv4', 'IPv6', 'other'),
      /** Whether the commit changes anything. */
      changes: fc.boolean(),
      /** Whether the write that it belongs to ends after it. */
      ends: fc.boolean(),
      /** Whether somebody looks after it. */
      looks: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
        const kernel = new Kernel();
        const watch = new GenerationWatch(kernel.transport);
        let epoch = await watch.epoch();
        let isForeign = false;
        const open = new Map<string, { generations: number[]; end: () => void; ended: Promise<unknown> }>();
        const end = async (who: string) => {
          const writing = open.get(who);
          open.delete(who);
          writing?.end();
          await writing?.ended;
        };
        const look = async () => {
          for (const who of [...open.keys()]) await end(who);
          const now = await watch.epoch();
          expect(now !== epoch).toBe(isForeign);
          [epoch, isForeign] = [now, false];
        };
        for (const { who, changes, ends, looks } of steps) {
          if (who === 'other') {
            if (changes) kernel.commit();
            isForeign ||= changes;
          } else {
            if (!open.has(who)) {
              const { opened, open: release } = gate();
              const generations: number[] = [];
              const ended = watch.ours(
                () => opened,
                () => ({ generations }),
              );
              open.set(who, { generations, end: release, ended });
            }
            if (changes) open.get(who)!.generations.push(kernel.commit());
            if (ends) await end(who);
          }
          if (looks) await look();
        }
        await look();
      }),
    );
  });
});

/** Answers a commit only when it is let. */
class SlowKernel extends MemoryNftTransport {
  answering = Promise.resolve();

  override async commit(family: IpFamily, operations: readonly Operation[]): Promise<number | undefined> {
    const generation = await super.commit(family, operations);
    await this.answering;
    return generation;
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
