import { changeWords, resultWords } from '../../../../src/diagnostics/application/words.js';
import type { ChangeEntry, ListChange } from '../../../../src/application/status/change-entry.js';
import { timeText } from '../../../../src/domain/model/text.js';

const list = (now: number, parts: Partial<ListChange> = {}): ListChange => ({
  count: now,
  added: 0,
  removed: 0,
  changed: 0,
  examples: [],
  ...parts,
});
const entry = (parts: object) => ({ family: 'IPv4', time: timeText(0), ...parts }) as ChangeEntry;
const ofPort = (parts: object) =>
  entry({
    kind: 'service-port',
    result: 'programmed',
    endpointChange: list(2),
    frontendChange: list(1),
    ...parts,
  });

it.each([
  [entry({ kind: 'everything-programmed' }), 'everything programmed', ''],
  [entry({ kind: 'sync-failed', reason: 'refused' }), 'sync failed', 'refused'],
  [entry({ kind: 'repaired' }), 'repaired after another program', ''],
  [ofPort({}), 'programmed', '2 endpoints as before'],
  [ofPort({ endpointChange: list(1) }), 'programmed', '1 endpoint as before'],
  [ofPort({ result: 'failed', reason: 'no room' }), 'failed', 'no room'],
  [ofPort({ result: 'removed' }), 'removed', ''],
  [
    ofPort({ endpointChange: list(3, { added: 2, removed: 1, examples: ['+a', '+b', '-c'] }) }),
    'programmed',
    'endpoints 2 → 3: +a, +b, -c',
  ],
  [
    ofPort({ endpointChange: list(9, { added: 2, removed: 2, changed: 1, examples: ['+a'] }) }),
    'programmed',
    'endpoints 9 → 9: +a and 4 more',
  ],
  [
    ofPort({ endpointChange: list(3, { changed: 2, examples: ['~a'] }) }),
    'programmed',
    'endpoints: ~a and 1 more',
  ],
  [
    ofPort({ endpointChange: list(3, { changed: 3, examples: ['~a'] }) }),
    'programmed',
    'endpoints: ~a and 2 more',
  ],
  [
    ofPort({ reason: 'lost', frontendChange: list(1, { removed: 1, examples: ['-f'] }) }),
    'programmed',
    'lost; frontends 2 → 1: -f',
  ],
  [
    ofPort({
      endpointChange: list(1, { removed: 1, examples: ['-a'] }),
      ejectedChange: list(1, { added: 1, examples: ['+a'] }),
    }),
    'programmed',
    'endpoints 2 → 1: -a; ejected endpoints 0 → 1: +a',
  ],
])('%j', (change, result, words) => {
  expect([resultWords(change), changeWords(change)]).toEqual([result, words]);
});
