import { shareText } from '../../../../src/diagnostics/domain/walk/chain-walk.js';

it.each([
  [1 / 3, '1 in 3'],
  [0.33333333349, '1 in 3'],
  [Math.floor(2 ** 31 / 5000) / 2 ** 31, '1 in 5000'],
  [0.4, '40.0 %'],
  [3 / 5000, '0.06 %'],
])('a share of %d of the packets is %s', (share, text) => {
  expect(shareText(share)).toBe(text);
});
