import { isIptablesChain } from '../../../../src/diagnostics/adapters/rules/iptables-rules.js';
import { desiredIptables, desiredRules } from '../../../../src/diagnostics/domain/iptables/desired-rules.js';
import { tablesSide } from '../../../../src/diagnostics/domain/compare/tables-side.js';
import { SavedRules } from '../../../../src/diagnostics/domain/iptables/saved-rules.js';
import { walkTables } from '../../../../src/diagnostics/domain/iptables/tables-walk.js';
import type { Walk } from '../../../../src/diagnostics/domain/walk/desired-walk.js';
import type { IpFamily } from '../../../../src/domain/net/ip-family.js';
import { parseSave } from '../../../support/iptables/parse-save.js';
import {
  recordedEntries,
  recordedCases,
  recordedDump,
  recordedManifest,
  RECORDED_HOST,
  type RecordedStep,
} from '../../../support/recorded/cluster.js';
import { recordedFates, walkedFates } from '../../../support/recorded/packet-fates.js';

/** Through the rules that this program makes. */
function desiredWalk(step: RecordedStep, family: IpFamily): Walk {
  const { entries, network } = recordedEntries(step, family);
  return tablesSide(desiredRules(desiredIptables(entries, network, RECORDED_HOST)));
}

describe('a packet in mode iptables meets what was recorded', () => {
  it.each(recordedCases())('$scenario $step $family', async ({ scenario, step, family }) => {
    const recorded = { scenario, step };
    const expected = recordedFates(recorded, family, 'iptables');
    const kept = new SavedRules(parseSave(recordedDump(recorded, family), family), isIptablesChain);
    const walks: Walk[] = [
      desiredWalk(recorded, family),
      { walk: (packet, environment) => walkTables(kept, packet, environment) },
    ];
    for (const walk of walks)
      expect(await walkedFates(recordedManifest(recorded), family, Object.keys(expected), walk)).toEqual(
        expected,
      );
  });
});
