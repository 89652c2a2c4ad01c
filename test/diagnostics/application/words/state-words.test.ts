import { isFailing, portStatusText, rowWord } from '../../../../src/diagnostics/application/words.js';
import type { PortStatus } from '../../../../src/application/status/port-status.js';
import type { ServiceRow } from '../../../../src/diagnostics/application/status/service-row.js';

it.each([
  ['programmed', 1, 'programmed', false],
  ['programmed', 0, 'no endpoint', false],
  ['pending', 0, 'pending', false],
  ['degraded', 0, 'degraded', true],
  ['failed', 1, 'failed', true],
  ['not-served', 0, 'not served', false],
] as const)('a Service that is %s, with %i used endpoints, is %s', (state, used, word, failing) => {
  const row = { state, endpointCounts: { used, known: 3 } } as ServiceRow;
  expect([rowWord(row), isFailing(row)]).toEqual([word, failing]);
});

it.each([
  ['degraded', 'held'],
  ['failed', 'failed'],
  ['pending', 'pending'],
] as const)('a Service that is %s, with a frontend that another one holds, is %s', (state, word) => {
  const row = { state, conflicts: 1, endpointCounts: { used: 0, known: 3 } } as ServiceRow;
  expect(rowWord(row)).toBe(word);
});

it.each<[PortStatus, string]>([
  [{ state: 'pending' }, 'pending'],
  [{ state: 'programmed', sinceTime: '5' }, 'programmed at 5'],
  [{ state: 'degraded', sinceTime: '5', reason: 'lost' }, 'degraded since at 5: lost'],
  [{ state: 'failed', sinceTime: '5', reason: 'no', attempts: 1 }, 'failed since at 5, 1 attempt: no'],
  [{ state: 'failed', sinceTime: '5', reason: 'no', attempts: 2 }, 'failed since at 5, 2 attempts: no'],
])('%j', (status, text) => {
  expect(portStatusText(status, (time) => `at ${time}`)).toBe(text);
});
