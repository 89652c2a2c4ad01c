import fc from 'fast-check';
import { AttributeReader } from '../../../src/adapters/netlink/message-reader.js';
import { MessageWriter, swapBytes } from '../../../src/adapters/netlink/message-writer.js';

/** Attributes of every form, nested to any depth. */
type Tree =
  | { readonly form: 'u8' | 'u32' | 'u64'; readonly type: number; readonly number: number }
  | { readonly form: 'text'; readonly type: number; readonly text: string }
  | { readonly form: 'bytes'; readonly type: number; readonly bytes: Uint8Array }
  | { readonly form: 'nest'; readonly type: number; readonly inside: readonly Tree[] };

const type = fc.integer({ min: 1, max: 0x3fff });
const number = (form: 'u8' | 'u32' | 'u64', max: number) =>
  fc.record({ form: fc.constant(form), type, number: fc.integer({ min: 0, max }) });
const { tree } = fc.letrec<{ tree: Tree }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 3 },
    number('u8', 0xff),
    number('u32', 0xffffffff),
    number('u64', Number.MAX_SAFE_INTEGER),
    fc.record({
      form: fc.constant('text' as const),
      type,
      text: fc.string({ unit: 'grapheme' }).filter((text) => !text.includes('\0')),
    }),
    fc.record({ form: fc.constant('bytes' as const), type, bytes: fc.uint8Array({ maxLength: 40 }) }),
    fc.record({ form: fc.constant('nest' as const), type, inside: fc.array(tie('tree'), { maxLength: 5 }) }),
  ),
}));

function write(writer: MessageWriter, item: Tree): void {
  switch (item.form) {
    case 'u8':
      return writer.putU8(item.type, item.number);
    case 'u32':
      return writer.putU32(item.type, item.number);
    case 'u64':
      return writer.putU64(item.type, item.number);
    case 'text':
      return writer.putText(item.type, item.text);
    case 'bytes':
      return writer.putBytes(item.type, item.bytes);
    case 'nest': {
      const nest = writer.beginNest(item.type);
      for (const child of item.inside) write(writer, child);
      return writer.endNest(nest);
    }
  }
}

function check(reader: AttributeReader, items: readonly Tree[]): void {
  for (const item of items) {
    expect(reader.next()).toBe(true);
    expect(reader.type).toBe(item.type);
    if (item.form === 'text') expect(reader.text()).toBe(item.text);
    else if (item.form === 'bytes') expect([...reader.value()]).toEqual([...item.bytes]);
    else if (item.form === 'nest') check(reader.nested(), item.inside);
    else expect(reader.number()).toBe(item.number);
  }
  expect(reader.next()).toBe(false);
}

describe('attributes', () => {
  it('are read as they were written, however often the buffer grew', () => {
    fc.assert(
      fc.property(fc.array(tree, { maxLength: 20 }), (items) => {
        const writer = new MessageWriter(4);
        for (const item of items) write(writer, item);
        expect(writer.length % 4).toBe(0);
        check(new AttributeReader(writer.bytes, 0, writer.length), items);
      }),
    );
  });

  it('are padded with zeros, in a buffer that had other content too', () => {
    const writer = new MessageWriter(64);
    writer.bytes.fill(0xff);
    writer.putText(1, 'abcd');
    writer.putBytes(2, Uint8Array.of(7));
    writer.putU8(3, 9);
    expect(writer.bytes.toString('hex', 0, writer.length)).toBe(
      '0900010061626364' + '00000000' + '05000200' + '07000000' + '05000300' + '09000000',
    );
  });

  it('hold negative numbers as two’s complement', () => {
    const writer = new MessageWriter();
    writer.putU32(2, -110);
    expect(writer.bytes.toString('hex', 0, 8)).toBe('08000200ffffff92');
  });

  it('do not exceed their length field', () => {
    const writer = new MessageWriter();
    const nest = writer.beginNest(1);
    for (let index = 0; index < 8192; index++) writer.putU32(1, index);
    expect(() => writer.endNest(nest)).toThrow(RangeError);
  });

  it('that do not fit into what is left are refused', () => {
    const bytes = Buffer.from('0c00010000000000', 'hex');
    expect(() => new AttributeReader(bytes).next()).toThrow('an attribute of 12 bytes where 8 are left');
    expect(() => new AttributeReader(Buffer.from('0300010000000000', 'hex')).next()).toThrow('3 bytes');
  });
});

describe('a message', () => {
  it('begins with its length, type, flags and sequence number', () => {
    const writer = new MessageWriter(16);
    const first = writer.beginMessage(0x0a00, 0x401, 7);
    writer.putWord(2);
    writer.endMessage(first);
    const second = writer.beginMessage(0x0a02, 1, 0xfffffffe);
    writer.endMessage(second);
    expect(writer.bytes.toString('hex', 0, writer.length)).toBe(
      '14000000' +
        '000a0104' +
        '07000000' +
        '00000000' +
        '02000000' +
        '10000000' +
        '020a0100' +
        'feffffff' +
        '00000000',
    );
  });
});

describe('swapBytes', () => {
  it('turns a word round, and back', () => {
    expect(swapBytes(0x12345678)).toBe(0x78563412);
    expect(swapBytes(0xff)).toBe(0xff000000);
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 0xffffffff }), (word) => swapBytes(swapBytes(word)) === word),
    );
  });
});
