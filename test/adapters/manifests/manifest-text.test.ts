import { ManifestSyntaxError } from '../../../src/adapters/manifests/manifest-errors.js';
import { ManifestLines } from '../../../src/adapters/manifests/manifest-chunks.js';
import { parseManifest, type ManifestValue } from '../../../src/adapters/manifests/manifest-text.js';

const values = (text: string): ManifestValue[] => [...parseManifest(text)].flat();
const parse = (text: string): unknown[] => values(text).map(({ value }) => value);
const lineOf = (text: string, place: string, ...field: (string | number)[]): number | undefined => {
  const { chunk, path } = values(text).find((value) => String(value.place) === place)!.place;
  return new ManifestLines(chunk).lineOf([...path, ...field]);
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

/** So many documents, or items, of some hundred characters. */
const many = (number: number, before: string, gap: string): string =>
  Array.from(
    { length: number },
    (_, index) =>
      `${before}name: n${index}\n${gap}note: |\n${gap}  ${'text '.repeat(100)}\n${gap}  --- text\n`,
  ).join('');

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
  ])('takes %j, which has less indentation than YAML asks for', (text, value) => {
    expect(parse(text)).toEqual([value]);
  });

  it('says where a line is wrong that has less indentation than YAML asks for', () => {
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
    expect([error.message, error.line]).toEqual(['aliases expand to too many values', 4]);
    expect(failure('a: &a [*a]\n').message).toBe('aliases expand to too many values');
    // Written out, they would be 400 million words.
    expect(performance.now() - began).toBeLessThan(20_000);
  });

  it('takes aliases that a person would write, as labels shared by thousands', () => {
    const text = `kind: List\nshared: &l {a: b, c: d, e: f, g: h}\nitems:\n${'- labels: *l\n'.repeat(20_000)}`;
    expect((parse(text)[0] as { items: unknown[] }).items).toHaveLength(20_000);
  });
});

describe('a long text', () => {
  const batches = (text: string): number => [...parseManifest(text)].length;

  it('is read in parts: documents', () => {
    const text = many(2_000, '---\n', '');
    expect(batches(text)).toBeGreaterThan(10);
    const all = values(text);
    expect(all.map(({ value }) => (value as { name: string }).name)).toEqual(
      Array.from({ length: 2_000 }, (_, index) => `n${index}`),
    );
    expect(String(all[1_500]!.place)).toBe('document 1501');
    expect(lineOf(text, 'document 1501', 'note')).toBe(1_500 * 5 + 3);
    expect(failure(`${text}---\na: 1\na: 2\n`).line).toBe(10_003);
  });

  it.each([
    ['beside their key', '- ', '  '],
    ['indented', '  - ', '    '],
  ])('is read in parts: items of a list %s, whatever follows', (_, before, gap) => {
    const list = `# head\napiVersion: v1\nitems: # many\n# the first\n${many(2_000, before, gap)}\n# the end\nkind: ServiceList\nmetadata: {}\n`;
    const text = `a: 1\n---\n${list}---\nb: 2\n`;
    expect(batches(text)).toBeGreaterThan(10);
    const all = values(text);
    expect(all).toHaveLength(2_002);
    expect(all[1_501]).toMatchObject({
      value: { name: 'n1500' },
      list: 'ServiceList',
    });
    expect(String(all[1_501]!.place)).toBe('document 2, item 1501');
    expect(lineOf(text, 'document 2, item 1501', 'note')).toBe(7 + 1_500 * 4 + 1);
    expect(all.at(-1)).toMatchObject({ value: { b: 2 } });
    expect(String(all.at(-1)!.place)).toBe('document 3');
    expect(failure(text.replace('name: n1999', 'name: [n1999')).line).toBeGreaterThan(8_000);
  });

  it.each([
    ['an alias to another item', `kind: List\nitems:\n- &a {x: 1}\n${many(500, '- ', '  ')}- *a\n`],
    [
      'text without indentation',
      `kind: List\nitems:\n- x: "a${'x'.repeat(70_000)}\n- b"\n${many(500, '- ', '  ')}`,
    ],
    ['no list', `items:\n${many(500, '- ', '  ')}`],
  ])('is read as a whole where its parts cannot be: %s', (_, text) => {
    const [{ value, list } = {}, ...more] = values(text);
    expect([list, more]).toEqual([undefined, []]);
    expect((value as { items: unknown[] }).items.length).toBeGreaterThanOrEqual(500);
  });
});

describe('a text that would take too much', () => {
  it.each([
    ['[', '['.repeat(5_000_000)],
    ['{"a":', '{"a":'.repeat(5_000)],
    ['{a: ', `b: 1\n---\nx: ${'{a: '.repeat(5_000)}`],
    ['- ', '- '.repeat(1_000_000)],
    ['? ', '? '.repeat(1_000_000)],
  ])('is refused before it is parsed: many levels of %s', (_, text) => {
    const before = process.memoryUsage().rss;
    expect(failure(text).message).toBe('nested too deeply; the limit is 1000 levels');
    expect(process.memoryUsage().rss - before).toBeLessThan(100 * 1024 * 1024);
  });

  it.each([
    ['JSON', (value: string) => JSON.stringify({ a: value, b: `"${value}\\` })],
    ['a plain text of YAML', (value: string) => `a: x${value}\n`],
    ['a quoted text of YAML', (value: string) => `a: 'it''s ${value}'\n`],
    ['a text of YAML between braces', (value: string) => `{a: 'it''s "${value}'}\n`],
    ['a block of YAML', (value: string) => `a: |\n  ${value}\n`],
    ['a long list', (value: string) => `kind: List\nitems:\n${many(200, '- ', '  ')}- a: "${value}"\n`],
  ])('may have any number of brackets, hyphens and question marks in %s', (_, textOf) => {
    for (const each of ['[', '[{', '}]', '- ', '? '])
      expect(parse(textOf(each.repeat(5_000))).length).toBeGreaterThan(0);
  });

  it('may have a thousand levels', () => {
    const levels = (count: number) => `${'['.repeat(count)}${']'.repeat(count)}`;
    expect(parse(levels(1_000))).toHaveLength(1);
    expect(failure(levels(1_001)).message).toMatch('nested too deeply');
    expect(parse(`a: ${levels(900)}`)).toHaveLength(1);
  });

  it('is refused when it is one document of YAML, by its line', () => {
    const error = failure(`a: 1\n---\nb: "${'x'.repeat(5 * 1024 * 1024)}"\n`);
    expect(error.message).toMatch(/^a document of 6 MiB is too long for YAML; /);
    expect(error.line).toBe(2);
  });

  it('may be a long list; of that the error is told where it is', () => {
    const list = `kind: List\nitems:\n${many(9_000, '- ', '  ')}`;
    expect(list.length).toBeGreaterThan(4 * 1024 * 1024);
    expect(values(list)).toHaveLength(9_000);
    expect(failure(list.replace('name: n8000', 'name: [n8000')).line).toBeGreaterThan(30_000);
  });
});

describe('lines', () => {
  const text =
    '# head\nkind: List\nitems:\n- kind: A\n- kind: B\n  x:\n    y: 1\n---\n\nkind: C\nl: &l [1]\nm: *l\n';

  it.each([
    ['document 1', [], 2],
    ['document 1', ['items', 0], 4],
    ['document 1', ['items', 1], 5],
    ['document 1', ['items', 1, 'x', 'y'], 7],
    ['document 1', ['items', 1, 'x', 'z', 3], 6],
    ['document 1', ['items', 9, 'x'], 3],
    ['document 2', [], 10],
    ['document 2', ['m', 0], 11],
  ])('of %s %j: %i', (place, field, line) => {
    expect(lineOf(text, place, ...field)).toBe(line);
  });

  it('are known of JSON too, also of JSON that YAML refuses', () => {
    expect(lineOf('{"items": [\n{"a": 1},\n{"b": 2}\n]}', 'document 1', 'items', 1, 'b')).toBe(3);
    expect(lineOf('{"a": 1,\n"a": 2}', 'document 1', 'a')).toBe(1);
  });

  it('are not looked for in a very long text', () => {
    expect(lineOf(`{"a": "${'x'.repeat(1_000_001)}"}`, 'document 1', 'a')).toBeUndefined();
  });
});
