import { cutText } from '../../src/application/cut-text.js';

it('keeps 1,024 characters of a text of others, and says how many are missing', () => {
  const longest = 'x'.repeat(1_024);
  expect(cutText(longest)).toBe(longest);
  expect(cutText(`${longest}yz`)).toBe(`${longest}… (2 more characters)`);
});
