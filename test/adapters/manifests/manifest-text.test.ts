import { ManifestSyntaxError } from '../../../src/adapters/manifests/manifest-errors.js';
import { locateObjects, parseManifest } from '../../../src/adapters/manifests/manifest-text.js';

function failure(text: string): ManifestSyntaxError {
  try {
    parseManifest(text);
  } catch (error) {
    if (error instanceof ManifestSyntaxError) return error;
    throw error;
  }
  throw new Error('it parsed');
}

describe('parseManifest', () => {
  it('reads JSON and YAML documents', () => {
    expect(parseManifest('{"a": [1, "x"]}')).toEqual([{ a: [1, 'x'] }]);
    expect(parseManifest('a: 1\n---\n---\nb: {c: yes}\n')).toEqual([{ a: 1 }, null, { b: { c: 'yes' } }]);
    expect(parseManifest('')).toEqual([]);
    expect(parseManifest('# nothing\n')).toEqual([null]);
  });

  it('keeps dates as text and understands anchors and merge keys', () => {
    expect(parseManifest('at: 2026-01-02T03:04:05Z\nx: &x {p: 1}\ny:\n  <<: *x\n  q: 2\n')).toEqual([
      { at: '2026-01-02T03:04:05Z', x: { p: 1 }, y: { p: 1, q: 2 } },
    ]);
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
});

describe('locateObjects', () => {
  it('knows the line of documents and items', () => {
    const lines = locateObjects(
      '# head\nkind: List\nitems:\n- kind: A\n- kind: B\n  x: {y: 1}\n---\n\nkind: C\n',
    );
    expect(Object.fromEntries(lines)).toEqual({
      'document 1': 2,
      'document 1, item 1': 4,
      'document 1, item 2': 5,
      'document 2': 9,
    });
  });

  it('knows the lines of JSON too, and gives up on JSON that YAML refuses', () => {
    expect(locateObjects('{"items": [\n{"a": 1},\n{"b": 2}\n]}').get('document 1, item 2')).toBe(3);
    expect(locateObjects('{"a": 1, "a": 2}').size).toBe(0);
  });
});
