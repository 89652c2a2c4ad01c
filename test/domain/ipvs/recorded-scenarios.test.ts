import { setLines } from '../../../src/domain/ipset/script-lines.js';
import { parseSave } from '../../support/iptables/parse-save.js';
import { compileIpvs } from '../../../src/domain/ipvs/compile.js';
import { IpvsComposition } from '../../../src/domain/ipvs/composition.js';
import { ipvsImage, type IpvsImage } from '../../../src/domain/ipvs/image.js';
import { serverLines } from '../../../src/domain/ipvs/render-servers.js';
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
import { recordedKernel } from '../../support/recorded/ipvs-kernel.js';

const cases = recordedCases();

function imageOf(step: RecordedStep, family: IpFamily): IpvsImage {
  const state = recordedState(step);
  const context = recordedContext(step, state, family, 'ipvs');
  const options = { node: context.network, scheduler: 'rr', hasScheduler: () => true };
  const composition = new IpvsComposition();
  for (const entry of forwardingTable(state, context).entries())
    composition.replace(entry.key, compileIpvs(entry, options));
  return ipvsImage(composition, context.network, RECORDED_HOST);
}

describe('what mode ipvs makes of recorded scenarios', () => {
  it.each(cases)('is what kube-proxy 1.36 made: $scenario $step $family', ({ scenario, step, family }) => {
    const { servers, addresses, sets, rules } = imageOf({ scenario, step }, family);
    expect({
      servers: serverLines(servers).toSorted(),
      addresses,
      sets: sets.flatMap(setLines).toSorted(),
    }).toEqual(recordedKernel({ scenario, step }, family));
    const dump = parseSave(recordedDump({ scenario, step }, family, 'ipvs'), family);
    expectRecorded(rules, dump);
  });
});
