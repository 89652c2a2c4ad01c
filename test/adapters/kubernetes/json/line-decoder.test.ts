import fc from 'fast-check';
import { LineDecoder } from '../../../../src/adapters/kubernetes/json/line-decoder.js';
import { completedBy } from '../harness.js';

it('gives the lines, however they are cut, and keeps an unfinished one', () => {
  const line = fc.string({ unit: 'grapheme' }).map((text) => JSON.stringify(text));
  fc.assert(
    fc.property(fc.array(line), fc.integer({ min: 1, max: 20 }), (lines, chunkSize) => {
      const bytes = Buffer.from(`${lines.map((text) => `${text}\n\n`).join('')}unfinished`);
      const decoder = new LineDecoder();
      const result: string[] = [];
      for (let at = 0; at < bytes.length; at += chunkSize)
        result.push(...completedBy(decoder, bytes.subarray(at, at + chunkSize)));
      expect(result).toEqual(lines);
    }),
  );
});

it('refuses a line without end', () => {
  const decoder = new LineDecoder();
  const chunk = Buffer.alloc(8 * 1024 * 1024, 'x');
  expect(() => {
    for (let n = 0; n < 5; n++) expect([...completedBy(decoder, chunk)]).toEqual([]);
  }).toThrow(SyntaxError);
});
