import { CanaryWatch, type IptablesWatch } from '../../../src/adapters/iptables/iptables-watch.js';
import { iptablesBaseRules } from '../../../src/domain/iptables/base-rules.js';
import { MemoryIptables } from '../../support/fakes/memory-iptables.js';
import { HOST, nodeNetwork } from '../../support/iptables/services.js';

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
