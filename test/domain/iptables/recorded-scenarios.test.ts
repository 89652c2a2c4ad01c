import { compileIptables } from '../../../src/domain/iptables/compile.js';
import { IptablesComposition } from '../../../src/domain/iptables/composition.js';
import { iptablesFrame } from '../../../src/domain/iptables/frame.js';
import { IptablesImage } from '../../../src/domain/iptables/image.js';
import { parseSave } from '../../support/iptables/parse-save.js';
import { renderSave } from '../../support/iptables/render-save.js';
import type { IpFamily } from '../../../src/domain/net/ip-family.js';
import {
  forwardingTable,
  recordedContext,
  recordedDump,
  RECORDED_HOST,
  recordedState,
  recordedCases,
  type RecordedStep,
} from '../../support/recorded/cluster.js';
import { expectRecorded } from '../../support/recorded/iptables-rules.js';

const cases = recordedCases();

function imageOf(step: RecordedStep, family: IpFamily): IptablesImage {
  const state = recordedState(step);
  const context = recordedContext(step, state, family);
  const options = { node: context.network, host: RECORDED_HOST, largeCluster: false };
  const composition = new IptablesComposition();
  for (const entry of forwardingTable(state, context).entries())
    composition.replace(entry.key, compileIptables(entry, options));
  return new IptablesImage(composition, iptablesFrame(context.network, RECORDED_HOST));
}

describe('the rules of recorded scenarios', () => {
  it('are those of 27 scenarios', () => {
    expect(new Set(cases.map(({ scenario }) => scenario)).size).toBe(27);
  });

  it.each(cases)('are those of kube-proxy 1.36: $scenario $step $family', ({ scenario, step, family }) => {
    const dump = parseSave(recordedDump({ scenario, step }, family), family);
    expectRecorded(imageOf({ scenario, step }, family), dump);
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
