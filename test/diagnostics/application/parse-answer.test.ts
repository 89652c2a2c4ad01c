import { LARGEST_RESPONSE } from '../../../src/adapters/http/largest-response.js';
import { AnswerError, parseAnswer } from '../../../src/diagnostics/application/parse-answer.js';
import { anything, fields, text } from '../../../src/domain/shape.js';

const parsed = (json: string) => parseAnswer(json, anything);
const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
const lists = (count: number) => `[${'[],'.repeat(count - 2)}[]]`;

it('is the value of the text, if that has the shape', () => {
  expect(parseAnswer('{"name":"web"}', fields({ name: text }))).toEqual({ name: 'web' });
  expect(() => parseAnswer('{"name":5}', fields({ name: text }))).toThrow('name is 5, where a text belongs');
  expect(() => parsed('<html>')).toThrow('it is not JSON');
});

it('is refused as an answer, whatever is wrong', () => {
  for (const json of ['<html>', '5', nested(33)]) expect(() => parseAnswer(json, text)).toThrow(AnswerError);
});

it('has no more than 32 levels', () => {
  expect(parsed(nested(32))).toBeDefined();
  expect(() => parsed(nested(33))).toThrow('it has more than 32 levels');
  expect(() => parsed(nested(33).replaceAll('[', '{'))).toThrow('it has more than 32 levels');
  expect(parsed(`[${nested(31)},${nested(31)}]`)).toBeDefined();
  expect(parsed(`[${'{},'.repeat(32)}{}]`)).toHaveLength(33);
});

it('has no more than two million lists and objects', () => {
  expect(parsed(lists(2_000_000))).toHaveLength(1_999_999);
  expect(() => parsed(lists(2_000_001))).toThrow('it has more than 2000000 lists and objects');
});

it('may be a list of 100,000 Services', () => {
  const row = {
    ...{ namespace: 'shop', name: 'cart', type: 'ClusterIP', frontends: ['10.96.0.2:80/TCP'] },
    ...{ endpointCounts: { used: 1, known: 1 }, state: 'ok', reason: '1 of 1 endpoint is ready' },
  };
  expect(100_000 * JSON.stringify(row).length).toBeLessThan(LARGEST_RESPONSE);
});

it.each(['[', '\\"[', '\\\\', '{'.repeat(40), '\\"'.repeat(3)])(
  'has texts in which brackets count for nothing: %s',
  (inside) => {
    expect(parsed(`["${inside}",${nested(31)}]`)).toHaveLength(2);
    expect(() => parsed(`["${inside}",${nested(32)}]`)).toThrow(AnswerError);
  },
);
