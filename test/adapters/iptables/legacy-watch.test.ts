import { LegacyWatch } from '../../../src/adapters/iptables/iptables-watch.js';

const ENTRIES = 76;

/** A kernel whose tables have so many entries in all. */
class Kernel {
  entries = 1000;
  readonly calls = {
    socket: () => 3,
    close: () => 0,
    flock: () => 0,
    errno: () => 0,
    getsockopt: (_fd: number, _level: number, _option: number, info: Buffer) => {
      if (info.toString('latin1', 0, 3) === 'nat') info.writeUInt32LE(this.entries, ENTRIES);
      return 0;
    },
  };
}

describe('LegacyWatch', () => {
  let kernel: Kernel;
  let watch: LegacyWatch;
  beforeEach(() => {
    kernel = new Kernel();
    watch = new LegacyWatch('IPv4', kernel.calls);
  });

  /** A restore of ours that changes the kernel's entries by so many, and is thought to change them by so many. */
  async function restore(actual: number, thought: number | undefined, lockWaitSeconds: number | undefined) {
    const before = await watch.epoch();
    await watch.ours(
      () => {
        kernel.entries += actual;
        return Promise.resolve({ lockWaitSeconds });
      },
      (outcome) => ({ ...outcome, entriesGained: thought }),
    );
    return { isOurs: (await watch.epoch()) === before };
  }

  it('takes what our own restores did for our own', async () => {
    expect(await restore(7, 7, 0)).toEqual({ isOurs: true });
    expect(await restore(-3, -3, 2)).toEqual({ isOurs: true });
  });

  it('sees that another program flushed tables while we waited for the lock', async () => {
    expect(await restore(7 - 500, 7, 1)).toEqual({ isOurs: false });
    expect(await restore(7 - 500, 7, 0)).toEqual({ isOurs: false });
  });

  it('trusts a restore of unknown effect only if nobody held the lock', async () => {
    expect(await restore(7, undefined, 0)).toEqual({ isOurs: true });
    expect(await restore(7, undefined, 1)).toEqual({ isOurs: false });
    expect(await restore(7, undefined, undefined)).toEqual({ isOurs: false });
  });

  it('sees what happens between our restores', async () => {
    const before = await watch.epoch();
    kernel.entries--;
    expect(await restore(7, 7, 0)).toEqual({ isOurs: true });
    expect(await watch.epoch()).not.toBe(before);
  });

  it('knows nothing where the kernel tells nothing', async () => {
    kernel.calls.getsockopt = () => -1;
    expect(await watch.epoch()).toBeUndefined();
  });
});
