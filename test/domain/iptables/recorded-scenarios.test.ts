import { compileIptables } from '../../../src/domain/iptables/compile.js';
import { IptablesDesiredState, DesiredTables } from '../../../src/domain/iptables/desired-state.js';
import { iptablesBaseRules } from '../../../src/domain/iptables/base-rules.js';
import { parseSave } from '../../support/iptables/parse-save.js';
import { renderSave } from '../../support/iptables/render-save.js';
import type { IpFamily } from '../../../src/domain/net/ip-family.js';
import {
  recordedEntries,
  recordedDump,
  RECORDED_HOST,
  recordedCases,
  type RecordedStep,
} from '../../support/recorded/cluster.js';
import { expectRecorded } from '../../support/recorded/iptables-rules.js';

const cases = recordedCases();

function tablesOf(step: RecordedStep, family: IpFamily): DesiredTables {
  const { entries, network } = recordedEntries(step, family);
  const options = { node: network, host: RECORDED_HOST, largeCluster: false };
  const desired = new IptablesDesiredState();
  for (const entry of entries) desired.replace(entry.key, compileIptables(entry, options));
  return new DesiredTables(desired, iptablesBaseRules(network, RECORDED_HOST));
}

describe('the rules of recorded scenarios', () => {
  it('are those of 27 scenarios', () => {
    expect(new Set(cases.map(({ scenario }) => scenario)).size).toBe(27);
  });

  it.each(cases)('are those of kube-proxy 1.36: $scenario $step $family', ({ scenario, step, family }) => {
    const dump = parseSave(recordedDump({ scenario, step }, family), family);
    expectRecorded(tablesOf({ scenario, step }, family), dump);
  });
});

describe('reading and writing recorded dumps', () => {
  it.each(cases)('goes round: $scenario $step $family', ({ scenario, step, family }) => {
    const text = recordedDump({ scenario, step }, family);
    const tables = parseSave(text, family);
    expect(renderSave(tables)).toBe(text.replaceAll('--nfacct-name  ', '--nfacct-name '));
    expect(parseSave(renderSave(tables), family)).toEqual(tables);
  });
});
