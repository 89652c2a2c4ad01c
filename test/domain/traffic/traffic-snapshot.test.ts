import { familyPortKey } from '../../../src/domain/traffic/service-frontends.js';
import { inSample } from '../../../src/domain/traffic/sample.js';
import { snapshotOf } from '../../../src/domain/traffic/traffic-snapshot.js';
import { TrafficTable } from '../../../src/domain/traffic/traffic-table.js';
import { entryOf, FIRST, SECOND, seenFlow } from '../../support/traffic/flows.js';

const entry = entryOf();
const key = familyPortKey(entry);
const MOMENT = { time: 5, steady: 7 };

/** Three connections to the first endpoint, one of them answered, two waiting for too long; one to the second that has ended. */
function tableOf(shift: number): TrafficTable {
  const table = new TrafficTable(() => entry);
  table.sample(shift);
  const hash = [0, 1, 2, 3].find((one) => inSample(one, shift))!;
  const flow = (id: number, parts = {}) => ({ ...seenFlow(id, parts), hash });
  for (const id of [1, 2, 3]) table.began(flow(id), 0);
  table.began(flow(4, { replySource: SECOND }), 0);
  table.ceased(flow(4, { replySource: SECOND }), 0);
  table.changed(flow(1, { replied: true, bytes: 100 }), 0);
  table.tidy(2_000, () => new Set([FIRST, SECOND]));
  return table;
}

it.each([0, 2])(
  'sums the endpoints of a port, those of a sample of one in 2^%i for those left out',
  (shift) => {
    const weight = 2 ** shift;
    const { ports, ...moment } = snapshotOf(tableOf(shift), () => entry, MOMENT);
    expect(moment).toEqual(MOMENT);
    const { endpoints, ...all } = ports.get(key)!;
    expect(all).toEqual({
      entry,
      connections: 4 * weight,
      failed: weight,
      bytes: 100 * weight,
      open: 3 * weight,
      overdue: 2 * weight,
    });
    expect(Object.fromEntries(endpoints)).toEqual({
      [FIRST]: {
        connections: 3 * weight,
        failed: 0,
        bytes: 100 * weight,
        open: 3 * weight,
        overdue: 2 * weight,
        unresponsive: false,
      },
      [SECOND]: { connections: weight, failed: weight, bytes: 0, open: 0, overdue: 0, unresponsive: false },
    });
  },
);

it('leaves out a port that is gone', () => {
  expect(snapshotOf(tableOf(0), () => undefined, MOMENT).ports.size).toBe(0);
});
