import { portStatusText } from '../../../../src/diagnostics/application/words.js';
import type { PortStatus } from '../../../../src/application/status/port-status.js';

it.each<[PortStatus, string]>([
  [{ state: 'pending' }, 'pending'],
  [{ state: 'programmed', sinceTime: '5' }, 'programmed at 5'],
  [{ state: 'degraded', sinceTime: '5', reason: 'lost' }, 'degraded since at 5: lost'],
  [{ state: 'failed', sinceTime: '5', reason: 'no', attempts: 1 }, 'failed since at 5, 1 attempt: no'],
  [{ state: 'failed', sinceTime: '5', reason: 'no', attempts: 2 }, 'failed since at 5, 2 attempts: no'],
])('%j', (status, text) => {
  expect(portStatusText(status, (time) => `at ${time}`)).toBe(text);
});
