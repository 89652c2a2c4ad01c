import { parse } from 'yaml';
import { formatted, jsonLine } from '../../../../src/adapters/cli/output/formatted.js';

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
