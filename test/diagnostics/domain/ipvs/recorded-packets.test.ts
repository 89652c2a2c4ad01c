import { desiredIpvs, walkIpvs } from '../../../../src/diagnostics/domain/ipvs-walk.js';
import { ipvsPlan } from '../../../../src/diagnostics/domain/compare/tables-side.js';
import type { Walk } from '../../../../src/diagnostics/domain/walk/desired-walk.js';
import type { IpFamily } from '../../../../src/domain/net/ip-family.js';
import {
  recordedEntries,
  recordedCases,
  recordedManifest,
  RECORDED_HOST,
  type RecordedStep,
} from '../../../support/recorded/cluster.js';
import { recordedSurroundings } from '../../../support/recorded/ipvs-dump.js';
import { recordedFates, walkedFates } from '../../../support/recorded/packet-fates.js';

/** Through what this program makes. */
function desiredWalk(step: RecordedStep, family: IpFamily): Walk {
  const { entries, network } = recordedEntries(step, family, 'ipvs');
  const schedulers = { scheduler: 'rr', hasScheduler: () => true };
  return ipvsPlan(desiredIpvs(entries, network, RECORDED_HOST, schedulers));
}

describe('a packet in mode ipvs meets what was recorded', () => {
  it.each(recordedCases())('$scenario $step $family', async ({ scenario, step, family }) => {
    const recorded = { scenario, step };
    const expected = recordedFates(recorded, family, 'ipvs');
    const keys = Object.keys(expected);
    const kept = recordedSurroundings(recorded, family);
    const walks: Walk[] = [
      desiredWalk(recorded, family),
      { walk: (packet, environment) => walkIpvs(kept, packet, environment) },
    ];
    for (const walk of walks)
      expect(await walkedFates(recordedManifest(recorded), family, keys, walk, kept.addresses)).toEqual(
        expected,
      );
  });
});
