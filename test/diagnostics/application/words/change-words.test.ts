import { changeWords, resultWords } from '../../../../src/diagnostics/application/words.js';
import type { ChangeEntry, ListChange } from '../../../../src/application/status/change-entry.js';
import { timeText } from '../../../../src/domain/model/text.js';

const list = (now: number, parts: Partial<ListChange> = {}): ListChange => ({
  now,
  added: 0,
  removed: 0,
  turned: 0,
  some: [],
  ...parts,
});
const entry = (parts: object) => ({ family: 'IPv4', at: timeText(0), ...parts }) as ChangeEntry;
const ofPort = (parts: object) =>
  entry({ what: 'service-port', result: 'programmed', endpoints: list(2), frontends: list(1), ...parts });

it.each([
  [entry({ what: 'everything-programmed' }), 'everything programmed', ''],
  [entry({ what: 'sync-failed', reason: 'refused' }), 'sync failed', 'refused'],
  [entry({ what: 'repaired' }), 'repaired after another program', ''],
  [ofPort({}), 'programmed', '2 endpoints as before'],
  [ofPort({ endpoints: list(1) }), 'programmed', '1 endpoint as before'],
  [ofPort({ result: 'failed', reason: 'no room' }), 'failed', 'no room'],
  [ofPort({ result: 'removed' }), 'removed', ''],
  [
    ofPort({ endpoints: list(3, { added: 2, removed: 1, some: ['+a', '+b', '-c'] }) }),
    'programmed',
    'endpoints 2 → 3: +a, +b, -c',
  ],
  [
    ofPort({ endpoints: list(9, { added: 2, removed: 2, turned: 1, some: ['+a'] }) }),
    'programmed',
    'endpoints 9 → 9: +a and 4 more',
  ],
  [ofPort({ endpoints: list(3, { turned: 2, some: ['~a'] }) }), 'programmed', 'endpoints: ~a and 1 more'],
  [ofPort({ endpoints: list(3, { turned: 3, some: ['~a'] }) }), 'programmed', 'endpoints: ~a and 2 more'],
  [
    ofPort({ reason: 'lost', frontends: list(1, { removed: 1, some: ['-f'] }) }),
    'programmed',
    'lost; frontends 2 → 1: -f',
  ],
  [
    ofPort({
      endpoints: list(1, { removed: 1, some: ['-a'] }),
      aside: list(1, { added: 1, some: ['+a'] }),
    }),
    'programmed',
    'endpoints 2 → 1: -a; silent endpoints aside 0 → 1: +a',
  ],
])('%j', (change, result, words) => {
  expect([resultWords(change), changeWords(change)]).toEqual([result, words]);
});
