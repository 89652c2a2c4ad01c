import {
  LegacyWatch,
  CanaryWatch,
  type IptablesWatch,
} from '../../../src/adapters/iptables/iptables-watch.js';
import { iptablesBaseRules } from '../../../src/domain/iptables/base-rules.js';
import { MemoryIptables } from '../../support/fakes/memory-iptables.js';
import { HOST, nodeNetwork } from '../../support/iptables/services.js';

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

const baseRules = iptablesBaseRules(nodeNetwork(), HOST);

/** Tables that hold the canaries and the jumps. */
function soundTables(): MemoryIptables {
  const iptables = new MemoryIptables();
  for (const { table, name } of [...baseRules.chains, ...baseRules.shared, ...baseRules.unmanagedChains])
    iptables.tamper('IPv4', `*${table}\n:${name} - [0:0]\nCOMMIT\n`);
  for (const { table, chain, rule } of baseRules.jumps)
    iptables.tamper('IPv4', `*${table}\n-I ${chain} ${rule}\nCOMMIT\n`);
  return iptables;
}

describe('CanaryWatch', () => {
  it('sees that a canary or a jump is gone, as long as it is', async () => {
    const iptables = soundTables();
    const watch = new CanaryWatch(undefined, 'IPv4', iptables, () => baseRules);
    const epoch = await watch.epoch();
    expect(await watch.epoch()).toBe(epoch);
    expect(watch.seesEveryWrite).toBe(false);
    const [jump] = iptables.chain('IPv4', 'nat', 'OUTPUT')!;
    iptables.tamper('IPv4', `*nat\n-D OUTPUT ${jump!}\nCOMMIT\n`);
    const later = await watch.epoch();
    expect(later).not.toBe(epoch);
    expect(await watch.epoch()).not.toBe(later);
    iptables.tamper('IPv4', `*nat\n-I OUTPUT ${jump!}\nCOMMIT\n*mangle\n-X KUBE-PROXY-CANARY\nCOMMIT\n`);
    const last = await watch.epoch();
    iptables.tamper('IPv4', '*mangle\n:KUBE-PROXY-CANARY - [0:0]\nCOMMIT\n');
    expect(await watch.epoch()).toBe(last);
  });

  it('gives the answers of the watch that sees each commit, as long as it has any', async () => {
    let answer: number | undefined = 7;
    const commits: IptablesWatch = {
      seesEveryWrite: true,
      ours: (write) => write(),
      epoch: () => Promise.resolve(answer),
    };
    const iptables = new MemoryIptables();
    const watch = new CanaryWatch(commits, 'IPv4', iptables, () => baseRules);
    const epoch = await watch.epoch();
    expect(await watch.epoch()).toBe(epoch);
    expect(watch.seesEveryWrite).toBe(true);
    answer = 8;
    const next = await watch.epoch();
    expect(next).not.toBe(epoch);
    answer = undefined;
    expect(await watch.epoch()).not.toBe(next);
    expect(watch.seesEveryWrite).toBe(false);
  });
});
