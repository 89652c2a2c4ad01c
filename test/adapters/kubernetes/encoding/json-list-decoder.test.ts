import fc from 'fast-check';
import { JsonListDecoder } from '../../../../src/adapters/kubernetes/encoding/json-encoding.js';
import { readableInto } from '../harness.js';

const KIND = '"kind":"ItemList",';

function decode(text: string, chunkSize: number): { items: unknown[]; metadata: unknown } {
  const bytes = Buffer.from(text, 'utf8');
  const items: unknown[] = [];
  const decoder = new JsonListDecoder('ItemList', readableInto(items));
  for (let at = 0; at < bytes.length; at += chunkSize) decoder.push(bytes.subarray(at, at + chunkSize));
  return { items, metadata: decoder.end() };
}

describe('a list that arrives in pieces', () => {
  it('gives the items and metadata, however it is cut', () => {
    const item = fc.dictionary(fc.string({ unit: 'grapheme' }), fc.jsonValue());
    fc.assert(
      fc.property(
        fc.array(item),
        fc.integer({ min: 1, max: 40 }),
        fc.boolean(),
        (items, chunkSize, pretty) => {
          const list = {
            kind: 'ItemList',
            note: 'items',
            labels: { items: ['no item'] },
            items,
            metadata: { resourceVersion: '7', continue: 'next', more: [{ items: [{}] }] },
          };
          const text = JSON.stringify(list, undefined, pretty ? 2 : 0);
          const result = decode(text, chunkSize);
          expect(result.items).toEqual((JSON.parse(text) as typeof list).items);
          expect(result.metadata).toEqual({ resourceVersion: '7', continue: 'next' });
        },
      ),
    );
  });

  it.each(['null', '[]', '[ ]'])('may be empty: %s', (items) => {
    const { items: decoded, metadata } = decode(
      `{${KIND}"metadata":{"resourceVersion":"1"},"items":${items}}\n`,
      5,
    );
    expect(decoded).toEqual([]);
    expect(metadata).toEqual({ resourceVersion: '1', continue: '' });
  });

  it.each([
    ['cut off between items', `{${KIND}"metadata":{"resourceVersion":"1"},"items":[{"a":1},`],
    ['cut off inside an item', `{${KIND}"metadata":{"resourceVersion":"1"},"items":[{"a":`],
    ['with an item that is no JSON', `{${KIND}"metadata":{"resourceVersion":"1"},"items":[{"a":nope}]}`],
    ['without a version', `{${KIND}"metadata":{},"items":[]}`],
    ['that is a web page', '<html>'],
    ['that is nothing', ''],
    ['that is null', 'null'],
    ['that is an array', '[]'],
    ['without items', `{${KIND}"metadata":{"resourceVersion":"1"}}`],
    ['with items that are an object', `{${KIND}"metadata":{"resourceVersion":"1"},"items":{"a":{}}}`],
    ['without kind', '{"metadata":{"resourceVersion":"1"},"items":[]}'],
    ['of another kind', '{"metadata":{"resourceVersion":"1"},"items":[],"kind":"OtherList"}'],
    ['that is a status', '{"kind":"Status","metadata":{"resourceVersion":"1"},"status":"Success"}'],
  ])('is refused %s', (_, text) => {
    expect(() => decode(text, 3)).toThrow(SyntaxError);
  });

  it('hands out no item of a list of another kind', () => {
    const items: unknown[] = [];
    const decoder = new JsonListDecoder('ItemList', readableInto(items));
    decoder.push(Buffer.from('{"kind":"OtherList","metadata":{"resourceVersion":"1"},"items":[{"a":1}]}'));
    expect(() => decoder.end()).toThrow('its kind is "OtherList"');
    expect(items).toEqual([]);
  });
});
