import { setLines } from '../../../src/domain/ipvs/ip-set.js';
import { parseSave } from '../../support/iptables/parse-save.js';
import { compileIpvs } from '../../../src/domain/ipvs/compile.js';
import {
  IpvsDesiredState,
  ipvsDesiredTables,
  type IpvsDesiredTables,
} from '../../../src/domain/ipvs/desired-state.js';
import { serverLines } from '../../../src/domain/ipvs/virtual-server.js';
import type { IpFamily } from '../../../src/domain/net/ip-family.js';
import {
  recordedEntries,
  recordedDump,
  RECORDED_HOST,
  recordedCases,
  type RecordedStep,
} from '../../support/recorded/cluster.js';
import { expectRecorded } from '../../support/recorded/iptables-rules.js';
import { recordedKernel } from '../../support/recorded/ipvs-kernel.js';

const cases = recordedCases();

function tablesOf(step: RecordedStep, family: IpFamily): IpvsDesiredTables {
  const { entries, network } = recordedEntries(step, family, 'ipvs');
  const options = { node: network, scheduler: 'rr', hasScheduler: () => true };
  const desired = new IpvsDesiredState();
  for (const entry of entries) desired.replace(entry.key, compileIpvs(entry, options));
  return ipvsDesiredTables(desired, network, RECORDED_HOST);
}

describe('what mode ipvs makes of recorded scenarios', () => {
  it.each(cases)('is what kube-proxy 1.36 made: $scenario $step $family', ({ scenario, step, family }) => {
    const { servers, addresses, sets, rules } = tablesOf({ scenario, step }, family);
    expect({
      servers: serverLines(servers).toSorted(),
      addresses,
      sets: sets.flatMap(setLines).toSorted(),
    }).toEqual(recordedKernel({ scenario, step }, family));
    const dump = parseSave(recordedDump({ scenario, step }, family, 'ipvs'), family);
    expectRecorded(rules, dump);
  });
});
