import fc from 'fast-check';
import { retryAfterOf } from '../../../../src/adapters/kubernetes/client/api-error.js';

it.each([
  ['1', 1000],
  [' 32 ', 32_000],
  ['0', 0],
  [7, 7000],
  ['3600', 60_000],
  ['9'.repeat(400), 60_000],
  [Infinity, 60_000],
])('%p asks for %p ms', (seconds, expected) => {
  expect(retryAfterOf(seconds)).toBe(expected);
});

it.each([
  '',
  '-1',
  '+1',
  '1.5s',
  '0x10',
  'soon',
  'Fri, 31 Dec 1999 23:59:59 GMT',
  -1,
  NaN,
  undefined,
  null,
  {},
  [5],
])('%p asks for nothing', (seconds) => {
  expect(retryAfterOf(seconds)).toBeUndefined();
});

it('is never negative and never more than a minute, whatever a server sends', () => {
  fc.assert(
    fc.property(fc.oneof(fc.anything(), fc.string(), fc.integer().map(String), fc.double()), (seconds) => {
      const wait = retryAfterOf(seconds);
      return wait === undefined || (wait >= 0 && wait <= 60_000);
    }),
  );
});
