import * as shapes from '../../src/domain/shape.js';
import type { Shape } from '../../src/domain/shape.js';

const { text, number, flag, time, list, optional, fields } = shapes;
const circle = fields({ kind: text, radius: number });
const square = fields({ kind: text, side: number });

/** Each shape, what has it, and what is said of what has not. */
const CASES: readonly (readonly [
  string,
  Shape<unknown>,
  readonly unknown[],
  readonly (readonly [unknown, string])[],
])[] = [
  [
    'a text',
    text,
    ['', 'a'],
    [
      [undefined, 'it is missing, where a text belongs'],
      [null, 'it is null, where a text belongs'],
      [[], 'it is a list, where a text belongs'],
      [{}, 'it is an object, where a text belongs'],
      [5, 'it is 5, where a text belongs'],
    ],
  ],
  ['a number', number, [0, -1.5], [['x'.repeat(99), `it is "${'x'.repeat(39)}, where a number belongs`]]],
  ['a flag', flag, [true, false], [['true', 'it is "true", where true or false belongs']]],
  [
    'a time',
    time,
    ['2026-05-04T12:02:11.040Z', '0000-01-01T00:00:00.000Z', '9999-12-31T23:59:59.999Z'],
    [
      [8.64e15 + 2, 'it is 8640000000000002, where a time belongs'],
      [Date.UTC(10_000, 0), 'it is 253402300800000, where a time belongs'],
      [NaN, 'it is null, where a time belongs'],
      ['2026-05-04', 'it is "2026-05-04", where a time belongs'],
      ['2026-02-31T25:00:00Z', 'it is "2026-02-31T25:00:00Z", where a time belongs'],
      ['Mon, 04 May 2026 12:02:11 GMT', 'where a time belongs'],
      [null, 'it is null, where a text belongs'],
    ],
  ],
  ['anything', shapes.anything, [undefined, {}], []],
  ['a word', shapes.word(), ['new words'], [[true, 'it is true, where a text belongs']]],
  [
    'one of some',
    shapes.oneOf<string | boolean>('all', false),
    ['all', false],
    [['a', 'it is "a", where one of all, false belongs']],
  ],
  ['what may be missing', optional(text), [undefined, 'a'], [[null, 'it is null, where a text belongs']]],
  [
    'a list',
    list(text),
    [[], ['a']],
    [
      [{}, 'it is an object, where a list belongs'],
      [['a', 5], '[1] is 5, where a text belongs'],
    ],
  ],
  [
    'fields',
    fields({ a: fields({ b: list(text) }), c: optional(flag) }),
    [{ a: { b: [] } }, { a: { b: ['x'], more: 1 }, c: true }],
    [
      [[], 'it is a list, where an object belongs'],
      [null, 'it is null, where an object belongs'],
      [{}, 'a is missing, where an object belongs'],
      [{ a: { b: [5] } }, 'a.b[0] is 5, where a text belongs'],
    ],
  ],
  [
    'variants',
    fields({ all: list(shapes.variants('kind', { circle, square })) }),
    [
      {
        all: [
          { kind: 'circle', radius: 1 },
          { kind: 'square', side: 1 },
        ],
      },
    ],
    [
      [{ all: [{ kind: 'line' }] }, 'all[0].kind is "line", where one of circle, square belongs'],
      [{ all: [{ kind: 'circle', side: 1 }] }, 'all[0].radius is missing, where a number belongs'],
    ],
  ],
  [
    'one with a field, or another one',
    shapes.having('radius', circle, square),
    [
      { kind: '', radius: 1 },
      { kind: '', side: 1 },
    ],
    [[{ kind: '' }, 'side is missing, where a number belongs']],
  ],
  [
    'both',
    shapes.both(circle, square),
    [{ kind: '', radius: 1, side: 1 }],
    [
      [{ kind: '', side: 1 }, 'radius is missing, where a number belongs'],
      [{ kind: '', radius: 1 }, 'side is missing, where a number belongs'],
    ],
  ],
];

it.each(CASES)('%s is answered as it is, and nothing else', (_, shape, good, bad) => {
  for (const value of good) expect(shape(value, '')).toBe(value);
  for (const [value, message] of bad) expect(() => shape(value, '')).toThrow(message);
});

describe('a time of another version', () => {
  const READ = '2026-05-04T12:02:11.040Z';
  const other = [Date.parse(READ), '2026-05-04T12:02:11.04Z', '2026-05-04T14:02:11.040123+02:00'];

  it.each(other)('is read from %j', (written) => expect(time(written, '')).toBe(READ));

  it.each(other)('is read wherever it stands, and nothing else is changed: %j', (written) => {
    const dated = fields({ at: time });
    const shape = shapes.both(
      fields({ all: list(shapes.variants('kind', { one: dated, other: dated })), now: optional(time) }),
      fields({ first: shapes.having('at', dated, number), last: time }),
    );
    const answer = (at: unknown) => ({
      all: [
        { kind: 'one', at, more: [1] },
        { kind: 'other', at: READ },
      ],
      now: at,
      first: { at },
      last: at,
      text: written,
    });
    const given = answer(written);
    expect(shape(given, '')).toEqual(answer(READ));
    expect(given).toEqual(answer(written));
  });
});
