import { restAfter } from '../../../../../src/diagnostics/adapters/page/browser/asking/rest.js';

it.each([
  [2, 1_000],
  [111, 1_000],
  [400, 3_600],
  [undefined, 1_000],
])('after an answer that took %p ms, the page rests for %i ms', (took, rest) => {
  expect(restAfter(took)).toBe(rest);
});
