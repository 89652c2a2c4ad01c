import { iptablesBackend } from '../../support/backends.js';
import { MemoryIptables } from '../../support/fakes/memory-iptables.js';
import { MemoryLogger } from '../../../src/testing/fakes/memory-logger.js';
import type { Backend } from '../../../src/application/ports/backend.js';
import { SILENT_OBSERVER } from '../../../src/adapters/iptables/iptables-driver.js';
import { HOST, nodeNetwork, Services } from '../../support/iptables/services.js';

const node = nodeNetwork();
let iptables: MemoryIptables;
let services: Services;
/** What was told last, by table. */
let told: Record<string, { readonly owned: number; readonly written: number }>;

beforeEach(() => {
  iptables = new MemoryIptables();
  services = new Services();
  told = {};
});

function backend(): Backend {
  return iptablesBackend(
    'IPv4',
    iptables,
    iptables.watch(),
    () => Promise.resolve(HOST),
    new MemoryLogger(),
    {
      compile: services.compile,
      observer: {
        ...SILENT_OBSERVER,
        rulesCounted: (_, { table, ...counts }) => void (told[table] = counts),
      },
    },
  );
}

async function started(count: number): Promise<Backend> {
  for (let number = 1; number <= count; number++) services.set(number);
  const started = backend();
  await started.start(services.all, node);
  return started;
}

/** The rules that stand in our own chains. */
async function present(table: string): Promise<number> {
  const saved = await iptables.save('IPv4');
  const chains = saved.find(({ name }) => name === table)?.chains ?? [];
  return chains
    .filter(({ name }) => name.startsWith('KUBE-'))
    .reduce((sum, { rules }) => sum + rules.length, 0);
}

async function expectTally(): Promise<void> {
  expect({ filter: told.filter!.owned, nat: told.nat!.owned }).toEqual({
    filter: await present('filter'),
    nat: await present('nat'),
  });
}

describe('the rules that a backend counts', () => {
  it('are those in its chains after a start, whether they were written or adopted', async () => {
    await started(5);
    await expectTally();
    expect(told.nat!.written).toBeGreaterThan(told.nat!.owned - 1);
    const { written } = told.nat!;
    await backend().start(services.all, node);
    await expectTally();
    expect([written > 0, told.nat!.written, told.filter!.written]).toEqual([true, 0, 0]);
  });

  it('follow changes', async () => {
    const running = await started(5);
    await running.apply(
      [services.set(3, 5), services.remove(4), services.setEmpty(5), services.set(6)],
      node,
    );
    await expectTally();
    // Three: five choices, two rules for each of three new endpoints. Six: an entry, two choices, two rules for each endpoint.
    expect(told.nat!.written).toBe(5 + 6 + 1 + 2 + 4);
    expect(told.filter!.written).toBeGreaterThan(0);
    await running.apply([services.set(3, 5)], node);
    await expectTally();
    expect([told.nat!.written, told.filter!.written]).toEqual([0, 0]);
  });

  it('leave out what was refused', async () => {
    const running = await started(20);
    iptables.refuse((line) => (line.includes('poison') ? 'Invalid argument' : undefined));
    for (const namesLines of [true, false]) {
      iptables.namesLines = namesLines;
      const poisoned = services.set(7, 4, '-m comment --comment poison');
      await running.apply([services.set(1, namesLines ? 1 : 5), poisoned, services.set(9, 3)], node);
      await expectTally();
    }
    const { failed } = await backend().start(services.all, node);
    expect(failed).toHaveLength(1);
    await expectTally();
  });

  it('are right again after a repair', async () => {
    const running = await started(5);
    const [rule] = iptables.chain('IPv4', 'nat', 'KUBE-SERVICES')!;
    iptables.tamper('IPv4', `*nat\n-D KUBE-SERVICES ${rule!}\nCOMMIT\n`);
    await running.verify('quick');
    await running.apply([services.set(2, 4)], node);
    await expectTally();
  });
});
