import {
  bool,
  entries,
  int32,
  message,
  nested,
  optionalText,
  readMessage,
  repeated,
  text,
  texts,
  timestamp,
  type Message,
  WireReader,
} from '../../../../src/adapters/kubernetes/encoding/protobuf-message.js';
import { numeric, part, varint } from '../../../support/api-server/protobuf.js';

function read(fields: Message, ...parts: Buffer[]): unknown {
  return readMessage(new WireReader(Buffer.concat(parts)), fields);
}

it('skips fields that nobody reads, of every wire type', () => {
  const fixed = (type: number, size: number): Buffer =>
    Buffer.concat([varint(9 * 8 + type), Buffer.alloc(size, 1)]);
  expect(
    read(
      message({ 2: text('a') }),
      part(9, 'x'),
      numeric(9, -1),
      fixed(1, 8),
      fixed(5, 4),
      part(2, 'y'),
      part(536_870_911, ''),
    ),
  ).toEqual({ a: 'y' });
});

it('omits what JSON omits, and keeps what it keeps', () => {
  const fields = message({ 1: text('a'), 2: optionalText('b'), 3: int32('c'), 4: bool('d') });
  expect(read(fields, part(1, ''), part(2, ''), numeric(3, 0), numeric(4, 0))).toEqual({
    b: '',
    c: 0,
    d: false,
  });
});

it.each([0, 1, 127, 128, 16_383, 16_384, 2_097_151, 2_097_152, 2 ** 28, 2 ** 31 - 1, -1, -(2 ** 31)])(
  'reads the number %i',
  (value) => {
    expect(read(message({ 1: int32('n') }), numeric(1, value))).toEqual({ n: value });
  },
);

it('reads true from any number but zero', () => {
  expect(read(message({ 1: bool('yes') }), numeric(1, 2 ** 40))).toEqual({ yes: true });
});

it('reads text of any script, and what is not UTF-8 as in JSON', () => {
  expect(read(message({ 1: text('t') }), part(1, 'ä€😀'))).toEqual({ t: 'ä€😀' });
  expect(read(message({ 1: text('t') }), part(1, Buffer.from([0x61, 0xff])))).toEqual({ t: 'a\ufffd' });
});

it('reads lists, messages, and messages that come in parts', () => {
  const inner = message({ 1: text('x'), 2: texts('y') });
  const fields = message({ 1: texts('list'), 2: nested('one', inner), 3: repeated('many', inner) });
  expect(
    read(
      fields,
      part(1, 'a'),
      part(2, Buffer.concat([part(1, 'x'), part(2, '1')])),
      part(1, ''),
      part(3, part(1, 'first')),
      part(2, part(2, '2')),
      part(3, ''),
    ),
  ).toEqual({ list: ['a', ''], one: { x: 'x', y: ['1', '2'] }, many: [{ x: 'first' }, {}] });
});

it('reads the wanted keys of a map, in whatever order an entry has them', () => {
  const fields = message({ 1: entries('labels', ['app', 'zone']) });
  const pair = (key: string, value: string): Buffer => part(1, Buffer.concat([part(1, key), part(2, value)]));
  expect(
    read(
      fields,
      pair('other', 'x'),
      pair('app', 'web'),
      part(1, Buffer.concat([part(2, 'b'), part(1, 'zone')])),
      part(1, part(2, 'x')),
    ),
  ).toEqual({ labels: { app: 'web', zone: 'b' } });
  expect(read(fields, pair('ap', ''))).toEqual({});
  expect(read(fields, part(1, part(1, 'app')))).toEqual({ labels: { app: '' } });
});

it('reads times in whole seconds', () => {
  const fields = message({ 1: timestamp('at') });
  expect(read(fields, part(1, numeric(1, 1_763_830_003)))).toEqual({ at: '2025-11-22T16:46:43Z' });
  expect(read(fields, part(1, numeric(1, -1)))).toEqual({ at: '1969-12-31T23:59:59Z' });
  // Go's zero time.
  expect(read(fields, part(1, ''))).toEqual({});
});
