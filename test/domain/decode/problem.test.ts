import { quote } from '../../../src/domain/decode/fields.js';

const circular: unknown[] = [];
circular.push(circular);

it.each<[string, unknown, string]>([
  ['a text', 'a"\n', '"a\\"\\n"'],
  ['nothing', undefined, 'undefined'],
  ['a big integer', 5n, '5'],
  ['what has itself inside', circular, 'a value without a JSON form'],
  ['a long text', 'x'.repeat(100), `"${'x'.repeat(76)}...`],
])('a value from outside can be logged: %s', (_, value, expected) => {
  expect(quote(value)).toBe(expected);
});
