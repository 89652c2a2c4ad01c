import { MemoryIptables } from '../../../support/fakes/memory-iptables.js';
import { IptablesTracer } from '../../../../src/diagnostics/adapters/rules/iptables-rules.js';
import { parseSave } from '../../../support/iptables/parse-save.js';
import type { IpFamily } from '../../../../src/domain/net/ip-family.js';
import { comparableTables } from '../../../support/recorded/comparable-tables.js';
import {
  recordedEntries,
  recordedDump,
  RECORDED_HOST,
  recordedCases,
  recordedSteps,
  type RecordedStep,
} from '../../../support/recorded/cluster.js';

const cases = recordedCases();

function planned(step: RecordedStep, family: IpFamily): Promise<string> {
  const { entries, network } = recordedEntries(step, family);
  const unread = () => Promise.reject(new Error('the kernel is not read'));
  return new IptablesTracer(() => Promise.resolve(RECORDED_HOST), unread).plan(entries, network);
}

describe('the plan of iptables mode', () => {
  it.each(cases)('loads as what kube-proxy left: $scenario $step $family', async ({ family, ...step }) => {
    const iptables = new MemoryIptables();
    await iptables.restore(family, [await planned(step, family)]);
    const loaded = await iptables.save(family);
    const recorded = parseSave(recordedDump(step, family), family);
    expect(comparableTables(loaded)).toEqual(comparableTables(recorded));
  });

  it('says which program is to load it', async () => {
    const [step] = recordedSteps() as [RecordedStep];
    expect(await planned(step, 'IPv4')).toMatch(/^# iptables-restore --noflush\n\*/);
    expect(await planned(step, 'IPv6')).toMatch(/^# ip6tables-restore --noflush\n\*[^]*COMMIT\n$/);
  });
});
