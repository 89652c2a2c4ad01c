import fc from 'fast-check';
import { singleRules, type RuleStep } from '../../../src/adapters/iptables/tables-difference.js';
import { sharedHolds, type DesiredSharedChain } from '../../../src/domain/iptables/desired-state.js';

const usualOrder = { isLate: () => false, isEarly: () => false };

/** Entries are named by what they are about and by their owner: `x1` and `x2` are about the same packets. */
function chainOf(names: readonly string[]): DesiredSharedChain {
  const [table, name] = ['filter', 'KUBE-SERVICES'] as const;
  const entries = names.map((rule) => ({
    entry: { table, chain: name, rule, frontend: rule[0]! },
    owner: `default/${rule}/tcp/`,
  }));
  return { table, name, rules: names, before: [], entries, after: [] } as DesiredSharedChain;
}

/** What the tool makes of a chain. */
function taken(actual: readonly string[], steps: readonly RuleStep[]): readonly string[] {
  const rules = [...actual];
  for (const { act, rule, behind } of steps) {
    if (act === 'delete') rules.splice(rules.indexOf(rule), 1);
    else rules.splice(act === 'append' ? rules.length : behind!, 0, rule);
  }
  return rules;
}

function repaired(chain: DesiredSharedChain, actual: readonly string[]): readonly string[] {
  const { first, last } = singleRules(chain, actual, Infinity, usualOrder)!;
  return taken(actual, [...first, ...last]);
}

describe('a shared chain put right rule by rule', () => {
  it('moves a rule that stands before one it should follow, and writes no other', () => {
    const { first, last } = singleRules(chainOf(['x1', 'x2']), ['x2', 'x1'], Infinity, usualOrder)!;
    expect([...first, ...last]).toEqual([
      { act: 'insert', rule: 'x2', behind: 2 },
      { act: 'delete', rule: 'x2' },
    ]);
  });

  it('leaves the order of rules about different packets as it is', () => {
    expect(singleRules(chainOf(['x1', 'y1']), ['y1', 'x1'], Infinity, usualOrder)).toEqual({
      first: [],
      last: [],
    });
  });

  it('is right at the end, whatever rules the chain has, and always has as much of each as before or as it should', () => {
    const names = fc.constantFrom<string[]>('x1', 'x2', 'x3', 'y1', 'y2', 'z1');
    const wanted = fc.uniqueArray(names).map((all) => chainOf([...all].sort()));
    fc.assert(
      fc.property(wanted, fc.array(names, { maxLength: 8 }), (chain, actual) => {
        expect(sharedHolds(chain, repaired(chain, actual))).toBe(true);
        const { first, last } = singleRules(chain, actual, Infinity, usualOrder)!;
        const steps = [...first, ...last];
        const kept = chain.rules.filter((rule) => actual.includes(rule));
        steps.forEach((_, index) => {
          expect(taken(actual, steps.slice(0, index + 1))).toEqual(expect.arrayContaining(kept));
        });
      }),
    );
  });
});
