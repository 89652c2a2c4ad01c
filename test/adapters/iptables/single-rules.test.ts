import fc from 'fast-check';
import { singleRules } from '../../../src/adapters/iptables/tables-difference.js';
import { sharedHolds, type DesiredSharedChain } from '../../../src/domain/iptables/desired-state.js';

/** Entries are named by what they are about and by their owner: `x1` and `x2` are about the same packets. */
function chainOf(names: readonly string[], after: readonly string[] = []): DesiredSharedChain {
  const [table, name] = ['filter', 'KUBE-SERVICES'] as const;
  const entries = names.map((rule) => ({
    entry: { table, chain: name, rule, frontend: rule[0]! },
    owner: `default/${rule}/tcp/`,
  }));
  return { table, name, rules: [...names, ...after], entries, after };
}

/** What the tool makes of a chain. */
function taken(
  actual: readonly string[],
  { inserted, appended, deleted }: NonNullable<ReturnType<typeof singleRules>>,
): readonly string[] {
  const rules = [...inserted.map(({ entry }) => entry.rule), ...actual, ...appended];
  for (const rule of deleted) rules.splice(rules.indexOf(rule), 1);
  return rules;
}

describe('a shared chain put right rule by rule', () => {
  it('has a new rule at its head, and what must stand last at its end', () => {
    const single = singleRules(chainOf(['x1', 'y1'], ['z']), ['y1', 'old'], Infinity)!;
    expect(taken(['y1', 'old'], single)).toEqual(['x1', 'y1', 'z']);
  });

  it('is written anew instead where a rule stands before one it should follow', () => {
    expect(singleRules(chainOf(['x1', 'x2']), ['x2', 'x1'], Infinity)).toBeUndefined();
    expect(singleRules(chainOf(['x1', 'x2']), ['x1'], Infinity)).toBeUndefined();
  });

  it('is written anew instead where too many rules differ', () => {
    expect(singleRules(chainOf(['x1', 'y1']), ['z1'], 2)).toBeUndefined();
    expect(singleRules(chainOf(['x1', 'y1']), ['z1'], 3)).toBeDefined();
  });

  it('leaves the order of rules about different packets unchanged', () => {
    const none = { inserted: [], appended: [], deleted: [] };
    expect(singleRules(chainOf(['x1', 'y1']), ['y1', 'x1'], Infinity)).toEqual(none);
  });

  it('is right at the end, whatever rules the chain has', () => {
    const names = fc.constantFrom<string[]>('x1', 'x2', 'x3', 'y1', 'y2', 'z1');
    const wanted = fc.uniqueArray(names).map((all) => chainOf([...all].sort()));
    fc.assert(
      fc.property(wanted, fc.array(names, { maxLength: 8 }), (chain, actual) => {
        const single = singleRules(chain, actual, Infinity);
        if (single) expect(sharedHolds(chain, taken(actual, single))).toBe(true);
      }),
    );
  });
});
