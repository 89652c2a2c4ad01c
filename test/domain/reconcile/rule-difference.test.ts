import { differing, sequenceDifference } from '../../../src/domain/reconcile/rule-difference.js';
import { unexplainedOwner } from '../../../src/domain/reconcile/claims.js';
import fc from 'fast-check';

it.each([
  ['a service port', 'shop/cart/udp/dns', { servicePort: 'shop/cart:dns' }],
  ['one without a name', 'shop/cart/tcp/', { servicePort: 'shop/cart' }],
  ['rules that no object explains', unexplainedOwner('shop/gone:web'), { servicePort: 'shop/gone:web' }],
  ['the node', undefined, {}],
])('a line of %s names it', (_, owner, named) => {
  expect(differing('-', 'rule', owner)).toEqual({ sign: '-', text: 'rule', ...named });
});

const lists = fc.array(fc.constantFrom('a', 'b', 'c', 'd', 'e'), { maxLength: 12 });

/** The actual list without what goes, with what comes at its places. */
function mended(actual: readonly string[], desired: readonly string[]): readonly string[] {
  const { unexpected, missing } = sequenceDifference(actual, desired);
  const kept = actual.filter((_, index) => !unexpected.includes(index));
  return desired.map((line, index) => (missing.includes(index) ? line : kept.shift()!)).concat(kept);
}

it('turns any list into any other', () => {
  fc.assert(fc.property(lists, lists, (actual, desired) => expect(mended(actual, desired)).toEqual(desired)));
});

it('is nothing between equal lists', () => {
  fc.assert(
    fc.property(lists, (list) =>
      expect(sequenceDifference(list, list)).toEqual({ unexpected: [], missing: [] }),
    ),
  );
});

it.each<[string, string, number[], number[]]>([
  ['a lost line', 'acd', [], [1]],
  ['a foreign line', 'abxcd', [2], []],
  ['a foreign line that repeats another', 'abbcd', [2], []],
  ['a line that moved', 'bcda', [3], [0]],
  ['two damages far apart', 'xbc', [0], [0, 3]],
  ['everything', '', [], [0, 1, 2, 3]],
])('tells %s alone', (_, actual, unexpected, missing) => {
  expect(sequenceDifference([...actual], [...'abcd'])).toEqual({ unexpected, missing });
});

it('takes any order where order does not count', () => {
  fc.assert(
    fc.property(lists, fc.nat(), (list, seed) => {
      const turn = seed % (list.length + 1);
      const turned = [...list.slice(turn), ...list.slice(0, turn)];
      expect(sequenceDifference(turned, list, false)).toEqual({ unexpected: [], missing: [] });
    }),
  );
});
