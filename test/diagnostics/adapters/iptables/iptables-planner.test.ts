import { MemoryIptables } from '../../../support/fakes/memory-iptables.js';
import { IptablesPlanner } from '../../../../src/diagnostics/adapters/rules/iptables-rules.js';
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

function planned(step: RecordedStep, family: IpFamily): string {
  const { entries, network } = recordedEntries(step, family);
  return new IptablesPlanner(RECORDED_HOST).plan(entries, network);
}

describe('the plan of iptables mode', () => {
  it.each(cases)('loads as what kube-proxy left: $scenario $step $family', async ({ family, ...step }) => {
    const iptables = new MemoryIptables();
    await iptables.restore(family, [planned(step, family)]);
    const loaded = await iptables.save(family);
    const recorded = parseSave(recordedDump(step, family), family);
    expect(comparableTables(loaded)).toEqual(comparableTables(recorded));
  });

  it('says which program is to load it', () => {
    const [step] = recordedSteps() as [RecordedStep];
    expect(planned(step, 'IPv4')).toMatch(/^# iptables-restore --noflush\n\*/);
    expect(planned(step, 'IPv6')).toMatch(/^# ip6tables-restore --noflush\n\*[^]*COMMIT\n$/);
  });
});
