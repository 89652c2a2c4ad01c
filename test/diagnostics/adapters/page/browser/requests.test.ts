import { pauseAfter } from '../../../../../src/diagnostics/adapters/page/browser/requests.js';

it.each([
  [2, 1_000],
  [111, 1_000],
  [400, 3_600],
  [0, 1_000],
  [8_000, 5_000],
  [60_000, 5_000],
])('after an answer that took %p ms, the page pauses for %i ms', (took, pause) => {
  expect(pauseAfter(took)).toBe(pause);
});
