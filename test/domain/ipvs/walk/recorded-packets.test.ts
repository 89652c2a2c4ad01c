import { compileIpvs } from '../../../../src/domain/ipvs/compile.js';
import { IpvsDesiredState } from '../../../../src/domain/ipvs/desired-state.js';
import { desiredSurroundings } from '../../../../src/domain/ipvs/walk/desired-surroundings.js';
import { walkIpvs, type IpvsSurroundings } from '../../../../src/domain/ipvs/walk/ipvs-walk.js';
import type { IpFamily } from '../../../../src/domain/net/ip-family.js';
import {
  forwardingTable,
  recordedCases,
  recordedContext,
  RECORDED_HOST,
  recordedState,
  type RecordedStep,
} from '../../../support/recorded/cluster.js';
import { recordedSurroundings } from '../../../support/recorded/ipvs-dump.js';
import { recordedFates, walkedFates } from '../../../support/recorded/packet-fates.js';

/** What this program makes. */
function desired(step: RecordedStep, family: IpFamily): IpvsSurroundings {
  const state = recordedState(step);
  const context = recordedContext(step, state, family, 'ipvs');
  const options = { node: context.network, scheduler: 'rr', hasScheduler: () => true };
  const made = new IpvsDesiredState();
  for (const entry of forwardingTable(state, context).entries())
    made.replace(entry.key, compileIpvs(entry, options));
  return desiredSurroundings(made, context.network, RECORDED_HOST);
}

describe('a packet in mode ipvs meets what was recorded', () => {
  it.each(recordedCases())('$scenario $step $family', ({ scenario, step, family }) => {
    const recorded = { scenario, step };
    const expected = recordedFates(recorded, family, 'ipvs');
    for (const surroundings of [desired(recorded, family), recordedSurroundings(recorded, family)]) {
      const actual = walkedFates(
        recorded,
        family,
        Object.keys(expected),
        (packet, environment) => walkIpvs(surroundings, packet, environment),
        surroundings.addresses,
      );
      expect(actual).toEqual(expected);
    }
  });
});
