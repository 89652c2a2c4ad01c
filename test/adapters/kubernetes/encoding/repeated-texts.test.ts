import fc from 'fast-check';
import { RepeatedTexts } from '../../../../src/adapters/kubernetes/encoding/protobuf-message.js';
import { anyText } from '../../../support/any-text.js';

describe('repeated texts', () => {
  it('are the texts that the bytes are, whatever was decoded before', () => {
    const texts = new RepeatedTexts();
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 40 }),
      anyText(12).map((text) => Buffer.from(text)),
      fc.constantFrom('http', 'TCP', 'kube-system', 'ab\0', 'ab').map((text) => Buffer.from(text)),
    );
    fc.assert(
      fc.property(fc.array(bytes, { maxLength: 20 }), (list) => {
        const decoded = list.map((each) => {
          const text = Buffer.concat([Buffer.from('<'), each, Buffer.from('>')]);
          return texts.decode(text, 1, text.length - 1);
        });
        expect(decoded).toEqual(list.map((each) => Buffer.from(each).toString('utf8')));
      }),
    );
  });

  it('are told apart when they share a place', () => {
    const texts = new RepeatedTexts();
    const all = Array.from({ length: 5_000 }, (_, index) => `name-${index}`);
    for (const _ of ['once', 'again'])
      expect(all.map((text) => texts.decode(Buffer.from(text), 0, text.length))).toEqual(all);
  });
});
