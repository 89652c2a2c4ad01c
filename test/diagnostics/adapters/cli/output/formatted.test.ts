import fc from 'fast-check';
import { parse } from 'yaml';
import {
  chooseColors,
  inToneOf,
  written,
  formatted,
  jsonLine,
} from '../../../../../src/diagnostics/adapters/cli/output.js';
import { withoutColors } from '../asking/forged-texts.js';
import { anyText } from '../../../../support/any-text.js';
// A node that wants to look good: clears the line, and writes another one.
const forged = 'bad\u001b[2K\r\u009b1Anode-1  good\nnode-2  good';
const answer = { [forged]: [forged], number: 1, missing: null };
const lines = (): readonly string[] => [];
const CONTROLS = /[^\P{C}\n]/u;

it.each(['text', 'wide'] as const)('shows texts of others on one line as %s', (format) => {
  const shown = formatted(format, answer, (value) =>
    Object.entries(value).map(([name, field]) => `${name}: ${JSON.stringify(field)}`),
  );
  expect(shown).not.toMatch(CONTROLS);
  expect(shown.split('\n')).toHaveLength(4);
  expect(shown).toContain('bad\\x1b[2K\\r\\u009b1Anode-1  good\\nnode-2  good');
});

it('keeps the value in JSON and YAML, and none of its control characters', () => {
  const json = formatted('json', answer, lines);
  expect(json).not.toMatch(CONTROLS);
  expect(JSON.parse(json)).toEqual(answer);
  expect(jsonLine(answer)).toMatch(/^[^\n]+\n$/);
  expect(JSON.parse(jsonLine(answer))).toEqual(answer);
  const yaml = formatted('yaml', answer, lines);
  expect(yaml).not.toMatch(CONTROLS);
  expect(parse(yaml)).toMatchObject({ number: 1, missing: null });
});

it('cuts a long text, unless everything is wanted', () => {
  const long = { text: 'x'.repeat(2_000) };
  const shown = (format: 'text' | 'wide'): string => formatted(format, long, ({ text }) => [text]);
  expect(shown('text')).toBe(`${'x'.repeat(1_024)}… (976 more characters)\n`);
  expect(shown('wide')).toBe(`${long.text}\n`);
});

const texts = fc.array(anyText(20), { minLength: 1, maxLength: 4 });

it.each(['text', 'wide', 'name'] as const)('writes a line for each of any texts, as %s', (format) => {
  fc.assert(
    fc.property(texts, fc.boolean(), (all, isColored) => {
      chooseColors(isColored ? 'always' : 'never');
      const each = (value: readonly string[]): readonly string[] =>
        value.map((one) => inToneOf('failed', one));
      const shown = withoutColors(written(formatted(format, all, each, each)));
      expect(shown).not.toMatch(/[^\P{C}\n]|[\u2028\u2029]/u);
      expect(shown.split('\n')).toHaveLength(all.length + 1);
    }),
  );
  chooseColors('never');
});

it('writes any texts so that programs read them again', () => {
  fc.assert(
    fc.property(texts, (all) => {
      const json = written(formatted('json', all, lines));
      expect(json).not.toMatch(CONTROLS);
      expect(JSON.parse(json)).toEqual(JSON.parse(JSON.stringify(all)));
      const yaml = written(formatted('yaml', all, lines));
      expect(yaml).not.toMatch(CONTROLS);
      expect(parse(yaml)).toHaveLength(all.length);
    }),
  );
});
