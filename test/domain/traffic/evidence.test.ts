import { familyPortKey } from '../../../src/domain/traffic/service-frontends.js';
import { TrafficTable } from '../../../src/domain/traffic/traffic-table.js';
import { entryOf, FIRST, seenFlow } from '../../support/traffic/flows.js';

const entry = entryOf();
const all = () => ({ has: () => true });
let table: TrafficTable;
beforeEach(() => {
  table = new TrafficTable(() => entry);
});

function evidence() {
  const { unanswered, answered } = table.ports().get(familyPortKey(entry))!.endpoints.get(FIRST)!.evidence;
  return { unanswered: unanswered.map(({ begun }) => begun), answered };
}

describe('the evidence of an endpoint', () => {
  it('are the beginnings of the last three connections that wait for more than a second', () => {
    for (let id = 0; id < 4; id++) table.began(seenFlow(id), id * 100);
    table.tidy(1_200, all);
    expect(evidence()).toEqual({ unanswered: [0, 100, 200], answered: undefined });
    table.tidy(1_300, all);
    expect(evidence()).toEqual({ unanswered: [100, 200, 300], answered: undefined });
  });

  it('begins anew with an answer, and leaves out what began before it', () => {
    for (let id = 0; id < 3; id++) table.began(seenFlow(id), id * 400);
    table.tidy(1_000, all);
    table.changed(seenFlow(1, { replied: true }), 1_050);
    expect(evidence()).toEqual({ unanswered: [], answered: 1_050 });
    table.began(seenFlow(3), 1_100);
    table.tidy(2_100, all);
    expect(evidence()).toEqual({ unanswered: [1_100], answered: 1_050 });
  });

  it('takes a refused connection for an answer', () => {
    table.began(seenFlow(0), 0);
    table.began(seenFlow(1), 0);
    table.tidy(1_000, all);
    table.began(seenFlow(2), 1_000);
    table.ceased(seenFlow(2, { closed: true }), 1_001);
    expect(evidence()).toEqual({ unanswered: [], answered: 1_001 });
  });

  it('takes one that is no longer tracked, as after its removal, for neither', () => {
    table.began(seenFlow(0), 0);
    table.tidy(1_000, all);
    table.began(seenFlow(1), 1_000);
    table.ceased(seenFlow(0), 1_100);
    table.ceased(seenFlow(1), 1_100);
    expect(evidence()).toEqual({ unanswered: [0], answered: undefined });
  });

  it('takes account of an answer that a walk saw before the beginning was heard of', () => {
    table.began(seenFlow(0), 0);
    table.tidy(1_000, all);
    table.found(seenFlow(1, { replied: true }), 1_010);
    expect(evidence()).toEqual({ unanswered: [0], answered: undefined });
    table.began(seenFlow(1), 1_020);
    table.changed(seenFlow(1, { replied: true }), 1_020);
    expect(evidence()).toEqual({ unanswered: [], answered: 1_020 });
  });

  it('leaves out connections that were there before the counting began', () => {
    for (let id = 0; id < 3; id++) table.found(seenFlow(id), 0);
    table.found(seenFlow(3, { replied: true }), 0);
    table.tidy(2_000, all);
    expect(evidence()).toEqual({ unanswered: [], answered: undefined });
  });
});
