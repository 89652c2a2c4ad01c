import fc from 'fast-check';
import { JsonWatchDecoder } from '../../../../src/adapters/kubernetes/encoding/json-encoding.js';
import { completedBy } from '../harness.js';

it('gives what the lines hold, however they are cut, and keeps an unfinished one', () => {
  const event = fc.record({ type: fc.string({ unit: 'grapheme' }) });
  fc.assert(
    fc.property(fc.array(event), fc.integer({ min: 1, max: 20 }), (events, chunkSize) => {
      const lines = events.map((each) => `${JSON.stringify(each)}\n\n`);
      const bytes = Buffer.from(`${lines.join('')}unfinished`);
      const decoder = new JsonWatchDecoder();
      const result: unknown[] = [];
      for (let at = 0; at < bytes.length; at += chunkSize)
        result.push(...completedBy(decoder, bytes.subarray(at, at + chunkSize)));
      expect(result).toEqual(events);
    }),
  );
});

it('refuses a line without end', () => {
  const decoder = new JsonWatchDecoder();
  const chunk = Buffer.alloc(8 * 1024 * 1024, 'x');
  expect(() => {
    for (let n = 0; n < 5; n++) expect([...completedBy(decoder, chunk)]).toEqual([]);
  }).toThrow(SyntaxError);
});
