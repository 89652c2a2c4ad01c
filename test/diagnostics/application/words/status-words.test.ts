import { familyWords, watchWords } from '../../../../src/diagnostics/application/words.js';
import type {
  FamilyStatus,
  WatchStatus,
} from '../../../../src/diagnostics/application/status/proxy-status.js';

const at = (time: string) => `at ${time}`;
const family = (parts: object, sync: object = {}) =>
  ({
    inSync: true,
    programmed: 2,
    failed: [],
    degraded: [],
    sync: { drift: { found: 0, repaired: 0 }, ...sync },
    ...parts,
  }) as unknown as FamilyStatus;
const watch = (parts: object) =>
  ({ kind: 'Service', state: 'watching', connected: true, objectCount: 1, ...parts }) as WatchStatus;

it.each([
  [family({}), 'in sync, 2 service ports programmed, no sync yet'],
  [
    family(
      { inSync: false, failed: [{}, { limitedBy: 'mode' }], degraded: [{}] },
      { lastSuccess: { time: 7, durationSeconds: 0.0123 } },
    ),
    'not in sync, 2 service ports programmed, 1 failing, 2 degraded, last sync at 7 in 12 ms',
  ],
  [
    family({ degraded: [{}] }, { lastSuccess: { time: 7, durationSeconds: 12.3456 } }),
    'in sync, 2 service ports programmed, 1 degraded, last sync at 7 in 12346 ms',
  ],
  [
    family({ programmed: 1 }, { drift: { repairs: 3, writtenSteps: 9, lastTime: 8 } }),
    'in sync, 1 service port programmed, no sync yet, 3 repairs after another program, the last at 8',
  ],
])('a family: %#', (status, words) => {
  expect(familyWords(status, at)).toBe(words);
});

it.each([
  [{}, 'connected, 1 object'],
  [{ objectCount: 2, idleSeconds: 4.4 }, 'connected, 2 objects, last data 4 s ago'],
  [{ state: 'backing-off', connected: false, failure: 'refused' }, 'backing off, 1 object, refused'],
])('a watch: %j', (parts, words) => {
  expect(watchWords(watch(parts))).toBe(words);
});
