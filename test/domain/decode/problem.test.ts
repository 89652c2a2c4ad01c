import { quote } from '../../../src/domain/decode/fields.js';

const circular: unknown[] = [];
circular.push(circular);

it.each<[string, unknown, string]>([
  ['a text', 'a"\n', '"a\\"\\n"'],
  ['nothing', undefined, 'undefined'],
  ['a big integer', 5n, '5'],
  ['what has itself inside', circular, 'a value without a JSON form'],
  ['a text of the longest form', 'x'.repeat(78), `"${'x'.repeat(78)}"`],
  ['a text that is a little too long', 'x'.repeat(79), `"${'x'.repeat(76)}...`],
  ['a list of the longest form', ['x'.repeat(76)], `["${'x'.repeat(76)}"]`],
  ['a list that is a little too long', ['x'.repeat(77)], `["${'x'.repeat(75)}...`],
  ['a long text', 'x'.repeat(100), `"${'x'.repeat(76)}...`],
])('a value from outside can be logged: %s', (_, value, expected) => {
  expect(quote(value)).toBe(expected);
});
