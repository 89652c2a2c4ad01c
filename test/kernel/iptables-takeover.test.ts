import { iptablesBackend } from '../support/backends.js';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { IptablesVariant } from '../../src/adapters/iptables/iptables-commands.js';
import { IptablesTool, XtablesLock } from '../../src/adapters/iptables/iptables-tool.js';
import { MemoryLogger } from '../../src/testing/fakes/memory-logger.js';
import { parseSave } from '../support/iptables/parse-save.js';
import { IP_FAMILIES } from '../../src/domain/net/ip-family.js';
import { comparableTables } from '../support/recorded/comparable-tables.js';
import {
  forwardingTable,
  recordedContext,
  recordedEntries,
  recordedDump,
  RECORDED_HOST,
  recordedState,
  recordedCases,
  recordedSteps,
  type RecordedStep,
} from '../support/recorded/cluster.js';
import { nightly } from '../support/nightly.js';
import { Host } from '../support/testbed/host.js';
import { iptablesVariants, NodeIptables } from '../support/testbed/iptables-node.js';

/** This machine need not have the counters: they are taken out of the dumps, and the rules that are for them alone. */
const HOST = { ...RECORDED_HOST, counters: new Set<never>() };
const withoutCounters = (dump: string) =>
  dump
    .split('\n')
    .filter((line) => !line.includes('localhost_nps_accepted_pkts'))
    .map((line) => line.replace(/ -m nfacct --nfacct-name +\S+/, ''))
    .join('\n');

/** Variants and families in turn: what a recording needs of one, the others need as well. */
const cases = recordedCases()
  .filter((_, place) => nightly || place % 8 === 0 || place % 8 === 3)
  .map((recorded, place) => ({
    ...recorded,
    variant: iptablesVariants[Math.floor(place / 2) % iptablesVariants.length]!,
  }));
/** That the rules themselves are those of kube-proxy is shown by `test/conformance`. */
const stepsOf = (variant: IptablesVariant): readonly RecordedStep[] =>
  recordedSteps().filter(
    (_, place) => (nightly || place % 8 < 2) && iptablesVariants[place % iptablesVariants.length] === variant,
  );
const folder = mkdtempSync(join(tmpdir(), `t${process.pid}-ipt-`));
const lock = new XtablesLock(join(folder, 'xtables.lock'));
afterAll(() => rmSync(folder, { recursive: true }));

describe('taking over from kube-proxy', () => {
  const namespace = `t${process.pid}-takeover`;
  const launcher = ['ip', 'netns', 'exec', namespace];
  beforeEach(() => void execFileSync('ip', ['netns', 'add', namespace]));
  afterEach(() => void execFileSync('ip', ['netns', 'del', namespace]));

  it.each(cases)(
    'writes not one rule: $variant $family $scenario $step',
    async ({ variant, family, ...recorded }) => {
      const { entries, network } = recordedEntries(recorded, family);
      const tool = new IptablesTool({ variant, launcher, lock });
      await tool.restore(family, [withoutCounters(recordedDump(recorded, family))].values());
      const backend = iptablesBackend(
        family,
        tool,
        undefined,
        () => Promise.resolve(HOST),
        new MemoryLogger(),
      );
      expect(await backend.start(entries, network)).toMatchObject({ written: 0, failed: [] });
      expect(await backend.verify('quick')).toMatchObject({ compared: false });
      await backend.close();
    },
  );

  it.each(iptablesVariants)(
    "then writes only a service's chains when an endpoint comes: %s",
    async (variant) => {
      const [before, after] = [1, 2].map((step) => ({ scenario: 'churn', step })) as [
        RecordedStep,
        RecordedStep,
      ];
      const state = recordedState(before);
      const context = recordedContext(before, state, 'IPv4');
      const tool = new IptablesTool({ variant, launcher, lock });
      await tool.restore('IPv4', [withoutCounters(recordedDump(before, 'IPv4'))].values());
      const rules = new NodeIptables(new Host(namespace), variant);
      await rules.mark('IPv4');
      const backend = iptablesBackend(
        'IPv4',
        tool,
        undefined,
        () => Promise.resolve(HOST),
        new MemoryLogger(),
      );
      const table = forwardingTable(state, context);
      await backend.start(table.entries(), context.network);
      const next = recordedState(after);
      const changes = table.update(next, next.serviceKeys(), context.forwarding);
      await backend.apply(changes, context.network);
      expect((await rules.written('IPv4')).sort()).toEqual([
        'nat KUBE-SEP-7OFUKUGLXBSB57BH',
        'nat KUBE-SVC-CDGGSHYLG3RE2FKL',
      ]);
      expect(comparableTables(await rules.saved('IPv4'))).toEqual(
        comparableTables(parseSave(withoutCounters(recordedDump(after, 'IPv4')), 'IPv4')),
      );
      await backend.close();
    },
  );

  it.each(iptablesVariants)('writes from nothing what it then finds right: %s', async (variant) => {
    for (const family of IP_FAMILIES) {
      const tool = new IptablesTool({ variant, launcher, lock });
      for (const recorded of stepsOf(variant)) {
        const { entries, network } = recordedEntries(recorded, family);
        const backend = () =>
          iptablesBackend(family, tool, undefined, () => Promise.resolve(HOST), new MemoryLogger());
        expect(await backend().start(entries, network)).toMatchObject({ failed: [] });
        expect(await backend().start(entries, network)).toMatchObject({ written: 0 });
      }
      tool.close();
    }
  });
});
