import { iptablesBaseRules } from '../../../../src/domain/iptables/compile/base-rules.js';
import { ClusterSize } from '../../../../src/domain/iptables/compile/cluster-size.js';
import { compileIptables } from '../../../../src/domain/iptables/compile/compile.js';
import { IptablesDesiredState } from '../../../../src/domain/iptables/state/desired-state.js';
import { DesiredRules } from '../../../../src/domain/iptables/walk/desired-rules.js';
import { isIptablesChain } from '../../../../src/adapters/iptables/trace/own-chains.js';
import type { RuleSource } from '../../../../src/domain/iptables/walk/rule-source.js';
import { SavedRules } from '../../../../src/domain/iptables/walk/saved-rules.js';
import { walkTables } from '../../../../src/domain/iptables/walk/tables-walk.js';
import type { IpFamily } from '../../../../src/domain/net/ip-family.js';
import { parseSave } from '../../../support/iptables/parse-save.js';
import {
  forwardingTable,
  recordedCases,
  recordedContext,
  recordedDump,
  RECORDED_HOST,
  recordedState,
  type RecordedStep,
} from '../../../support/recorded/cluster.js';
import { recordedFates, walkedFates } from '../../../support/recorded/packet-fates.js';

/** The rules that this program makes. */
function desiredRules(step: RecordedStep, family: IpFamily): RuleSource {
  const state = recordedState(step);
  const context = recordedContext(step, state, family);
  const entries = [...forwardingTable(state, context).entries()];
  const size = new ClusterSize();
  for (const entry of entries) size.note(entry.key, entry);
  const options = { node: context.network, host: RECORDED_HOST, largeCluster: size.isLarge };
  const desired = new IptablesDesiredState();
  for (const entry of entries) desired.replace(entry.key, compileIptables(entry, options));
  return new DesiredRules(desired, iptablesBaseRules(context.network, RECORDED_HOST));
}

/** The rules that kube-proxy left in the kernel. */
function savedRules(step: RecordedStep, family: IpFamily): RuleSource {
  return new SavedRules(parseSave(recordedDump(step, family), family), isIptablesChain);
}

describe('a packet in mode iptables meets what was recorded', () => {
  it.each(recordedCases())('$scenario $step $family', ({ scenario, step, family }) => {
    const expected = recordedFates({ scenario, step }, family, 'iptables');
    for (const rules of [desiredRules({ scenario, step }, family), savedRules({ scenario, step }, family)]) {
      const actual = walkedFates({ scenario, step }, family, Object.keys(expected), (packet, environment) =>
        walkTables(rules, packet, environment),
      );
      expect(actual).toEqual(expected);
    }
  });
});
