import fc from 'fast-check';
import { WrittenChain } from '../../../src/domain/iptables/written-chain.js';

const rule = fc.oneof(
  fc.constant(''),
  fc.string({ unit: 'grapheme-ascii', minLength: 1 }).filter((text) => !text.includes('\n')),
);

describe('WrittenChain', () => {
  it('writes a line for each rule, and has the rules of the chain that it was made from', () => {
    fc.assert(
      fc.property(fc.array(rule), (rules) => {
        const {
          table,
          name,
          rules: read,
          appended,
        } = new WrittenChain({ table: 'nat', name: 'KUBE-SVC-A', rules });
        expect([table, name, read]).toEqual(['nat', 'KUBE-SVC-A', rules]);
        const lines = rules.map((each) => (each === '' ? '-A KUBE-SVC-A' : `-A KUBE-SVC-A ${each}`));
        expect({ text: appended.text, count: appended.count }).toEqual({
          text: lines.join('\n'),
          count: rules.length,
        });
      }),
    );
  });
});
