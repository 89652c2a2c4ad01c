import { ManifestSyntaxError, parseManifest } from '../../../src/adapters/manifests/manifest-text.js';

const parse = (text: string): unknown[] => [...parseManifest(text)].map(({ value }) => value);
const lineOf = (text: string, document: number, ...field: (string | number)[]): number | undefined => {
  const { source, index } = [...parseManifest(text)].find(({ number }) => number === document)!;
  return source.lineOf(index, field);
};

function failure(text: string): ManifestSyntaxError {
  try {
    parse(text);
  } catch (error) {
    if (error instanceof ManifestSyntaxError) return error;
    throw error;
  }
  throw new Error('it parsed');
}

describe('parseManifest', () => {
  it('reads JSON and YAML documents', () => {
    expect(parse('{"a": [1, "x"]}')).toEqual([{ a: [1, 'x'] }]);
    expect(parse('a: 1\n---\n---\nb: {c: yes}\n')).toEqual([{ a: 1 }, null, { b: { c: 'yes' } }]);
    expect(parse('')).toEqual([]);
    expect(parse('# nothing\n')).toEqual([]);
    expect(parse('# nothing\n\n--- # a\na: 1\n--- {b: 2}\n---\r\nc: 3')).toEqual([
      { a: 1 },
      { b: 2 },
      { c: 3 },
    ]);
    expect(parse('%YAML 1.2\n---\na: 1\n...\n---\nb: 2\n')).toEqual([{ a: 1 }, { b: 2 }]);
  });

  it('keeps dates as text and understands anchors and merge keys', () => {
    expect(parse('at: 2026-01-02T03:04:05Z\nx: &x {p: 1}\ny:\n  <<: *x\n  q: 2\n')).toEqual([
      { at: '2026-01-02T03:04:05Z', x: { p: 1 }, y: { p: 1, q: 2 } },
    ]);
  });

  it.each([
    ['a:\n  b: {\n    c: 1\n  }\n  d: [\n  ]\n', { a: { b: { c: 1 }, d: [] } }],
    ['a: [\n1,\n{\n"b": 2\n}\n]\nc: 3\n', { a: [1, { b: 2 }], c: 3 }],
    [`a: "x\ny"\nb: 'x\n\ny'\nc: |\n  z\n`, { a: 'x y', b: 'x\ny', c: 'z\n' }],
  ])('accepts %j, which has less indentation than YAML requires', (text, value) => {
    expect(parse(text)).toEqual([value]);
  });

  it('reports errors in lines that have less indentation than YAML requires', () => {
    expect(failure('a: [\n1,\n2 }\n').place('f.yaml')).toBe('f.yaml:3:3');
    expect(failure(`a: [\n${'1,\n'.repeat(200)}]`).message).toBe('deficient indentation');
  });

  it.each([
    ['a: 1\nb: 2\na: 3\n', /duplicated mapping key/, 3],
    ['a: 1\n b: 2\n', /bad indentation/, 2],
    ['{"a": 1,\n "b": [1, 2', /unexpected end/, 2],
    ['ok: 1\n---\nbad: "x\n', /unexpected end/, 3],
    ['a: *nowhere\n', /unidentified alias/, 1],
  ])('says where %j is wrong', (text, reason, line) => {
    const error = failure(text);
    expect(error.message).toMatch(reason);
    expect(error.line).toBe(line);
    expect(error.place('f.yaml')).toMatch(new RegExp(`^f\\.yaml:${line}:\\d+$`));
  });

  it('refuses aliases that repeat too much, by their document, at once', () => {
    const levels = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i'].map((name, index, names) => {
      const members = Array.from({ length: 9 }, () => (index === 0 ? 'lol' : `*${names[index - 1]!}`));
      return `${name}: &${name} [${members.join(', ')}]\n`;
    });
    const began = performance.now();
    const error = failure(`kind: Service\n---\n# here\n${levels.join('')}`);
    expect([error.message, error.line]).toEqual(['aliases expand to too many values', 2]);
    expect(failure('a: &a [*a]\n').message).toBe('aliases expand to too many values');
    // Written out, they would be 400 million words.
    expect(performance.now() - began).toBeLessThan(20_000);
  });

  it('takes aliases that a person would write, as labels shared by thousands', () => {
    const text = `kind: List\nshared: &l {a: b, c: d, e: f, g: h}\nitems:\n${'- labels: *l\n'.repeat(20_000)}`;
    expect((parse(text)[0] as { items: unknown[] }).items).toHaveLength(20_000);
  });
});

it('finds places in many documents', () => {
  const text = Array.from(
    { length: 2_000 },
    (_, index) => `---\nname: n${index}\nnote: |\n  text\n  --- text\n`,
  ).join('');
  expect(parse(text).map((value) => (value as { name: string }).name)).toEqual(
    Array.from({ length: 2_000 }, (_, index) => `n${index}`),
  );
  expect(lineOf(text, 1501, 'note')).toBe(1_500 * 5 + 3);
  expect(failure(`${text}---\na: 1\na: 2\n`).line).toBe(10_003);
});

describe('a text that would take too much', () => {
  it.each([
    ['[', '['.repeat(5_000_000)],
    ['{"a":', '{"a":'.repeat(5_000)],
    ['{a: ', `b: 1\n---\nx: ${'{a: '.repeat(5_000)}`],
    ['- ', '- '.repeat(1_000_000)],
    ['? ', '? '.repeat(1_000_000)],
  ])('is refused: many levels of %s', (_, text) => {
    const before = process.memoryUsage().rss;
    expect(failure(text).message).toBe('nested too deeply; the limit is 100 levels');
    expect(process.memoryUsage().rss - before).toBeLessThan(100 * 1024 * 1024);
  });

  it.each([
    ['JSON', (value: string) => JSON.stringify({ a: value, b: `"${value}\\` })],
    ['a plain text of YAML', (value: string) => `a: x${value}\n`],
    ['a quoted text of YAML', (value: string) => `a: 'it''s ${value}'\n`],
    ['a text of YAML between braces', (value: string) => `{a: 'it''s "${value}'}\n`],
    ['a block of YAML', (value: string) => `a: |\n  ${value}\n`],
  ])('may have any number of brackets, hyphens and question marks in %s', (_, textOf) => {
    for (const each of ['[', '[{', '}]', '- ', '? '])
      expect(parse(textOf(each.repeat(5_000))).length).toBeGreaterThan(0);
  });
});

describe('lines', () => {
  const text =
    '# head\nkind: List\nitems:\n- kind: A\n- kind: B\n  x:\n    y: 1\n---\n\nkind: C\nl: &l [1]\nm: *l\n';

  it.each([
    [1, [], 2],
    [1, ['items', 0], 4],
    [1, ['items', 1], 5],
    [1, ['items', 1, 'x', 'y'], 7],
    [1, ['items', 1, 'x', 'z', 3], 6],
    [1, ['items', 9, 'x'], 3],
    [2, [], 10],
    [2, ['m', 0], 12],
  ])('of document %i %j: %i', (document, field, line) => {
    expect(lineOf(text, document, ...field)).toBe(line);
  });

  it('are known of JSON too, also of JSON that YAML refuses', () => {
    expect(lineOf('{"items": [\n{"a": 1},\n{"b": 2}\n]}', 1, 'items', 1, 'b')).toBe(3);
    expect(lineOf('{"a": 1,\n"a": 2}', 1, 'a')).toBe(2);
  });
});
