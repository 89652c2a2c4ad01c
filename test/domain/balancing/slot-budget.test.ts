import fc from 'fast-check';
import {
  BYTES_OF_SLOT,
  SLOT_LIMITS,
  SlotBudget,
  type SlotDemand,
} from '../../../src/domain/balancing/slot-budget.js';

const LIMITS = { ofService: 100, ofNode: 250 };
const demand = (slots: number, createdAt: number, ...tables: number[]): SlotDemand => ({
  slots,
  tables,
  createdAt,
});

function budgetOf(demands: Readonly<Record<string, SlotDemand>>): SlotBudget {
  const budget = new SlotBudget(LIMITS);
  for (const [service, its] of Object.entries(demands)) budget.request(service, its);
  budget.decide();
  return budget;
}

const denied = (budget: SlotBudget, services: readonly string[]) =>
  services.filter((service) => budget.reason(service) !== undefined);

describe('the budget of slots', () => {
  it('denies a Service that needs more than one may have, and takes no room for it', () => {
    const budget = budgetOf({ 'a/large': demand(101, 1, 1), 'a/small': demand(100, 2, 2) });
    expect(budget.reason('a/large')).toBe('101 slots are needed, and a Service may have 100');
    expect(budget.reason('a/small')).toBeUndefined();
    expect([budget.used, budget.deniedServices]).toEqual([100, 1]);
  });

  it('prefers older Services to younger ones, and takes what fits', () => {
    const budget = budgetOf({
      'z/old': demand(100, 1, 1),
      'a/young': demand(80, 3, 2),
      'm/middle': demand(100, 2, 3),
      'b/youngest': demand(50, 4, 4),
    });
    expect(denied(budget, ['z/old', 'm/middle', 'a/young', 'b/youngest'])).toEqual(['a/young']);
    expect(budget.used).toBe(250);
    expect(budget.reason('a/young')).toContain('80 slots are needed, and older Services use up the 250');
  });

  it('puts Services whose age is not known last, by name', () => {
    const unknown = { slots: 100, tables: [1] };
    const budget = budgetOf({
      'a/b': { ...unknown, tables: [2] },
      'a/a': unknown,
      'z/old': demand(100, 1_700_000_000, 3),
    });
    expect(denied(budget, ['a/a', 'a/b', 'z/old'])).toEqual(['a/b']);
  });

  it('returns when there is room, and reports whose decision has changed', () => {
    const budget = budgetOf({ 'a/a': demand(100, 1, 1), 'a/b': demand(100, 2, 2), 'a/c': demand(100, 3, 3) });
    expect(denied(budget, ['a/a', 'a/b', 'a/c'])).toEqual(['a/c']);
    budget.request('a/b', undefined);
    expect(budget.decide()).toEqual(['a/c']);
    expect(denied(budget, ['a/a', 'a/c'])).toEqual([]);
    expect(budget.decide()).toEqual([]);
  });

  it('gives a number of a table to the older Service', () => {
    const budget = budgetOf({ 'a/young': demand(10, 2, 7), 'b/old': demand(10, 1, 7, 8) });
    expect(denied(budget, ['a/young', 'b/old'])).toEqual(['a/young']);
    budget.request('b/old', demand(10, 1, 8));
    expect(budget.decide()).toEqual(['a/young']);
    expect(denied(budget, ['a/young', 'b/old'])).toEqual([]);
  });

  it('depends on the Services there are, not on what was before', () => {
    const services = ['a/a', 'a/b', 'a/c', 'a/d', 'a/e', 'a/f'];
    const change = fc.record({
      service: fc.constantFrom(...services),
      its: fc.option(
        fc.record({
          slots: fc.integer({ min: 1, max: 120 }),
          tables: fc.uniqueArray(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 2 }),
          createdAt: fc.integer({ min: 1, max: 4 }),
        }),
        { nil: undefined },
      ),
      decides: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(change, { maxLength: 30 }), (changes) => {
        const budget = new SlotBudget(LIMITS);
        const present = new Map<string, SlotDemand>();
        const known = new Map<string, string | undefined>();
        const decide = () => {
          for (const service of budget.decide()) known.set(service, budget.reason(service));
        };
        for (const { service, its, decides } of changes) {
          budget.request(service, its);
          if (its) present.set(service, its);
          else present.delete(service);
          if (decides) decide();
        }
        decide();
        const fresh = budgetOf(Object.fromEntries(present));
        expect(denied(budget, services)).toEqual(denied(fresh, services));
        expect(budget.used).toBe(fresh.used);
        expect(budget.used).toBeLessThanOrEqual(LIMITS.ofNode);
        // Every change was reported.
        for (const service of services) expect(known.get(service)).toBe(budget.reason(service));
      }),
    );
  });
});

it('a Service has 65,536 slots at most, and a node 524,288, which is 42 MB', () => {
  const budget = new SlotBudget();
  const full = SLOT_LIMITS.ofService;
  for (let number = 0; number < 8; number++)
    budget.request(`a/${number}`, demand(65_536, number, number + 1));
  budget.request('a/one', demand(1, 9, 10));
  budget.request('a/more', demand(full + 1, 0, 11));
  budget.decide();
  expect([budget.used, full, SLOT_LIMITS.ofNode * BYTES_OF_SLOT]).toEqual([524_288, 65_536, 41_943_040]);
  expect(budget.reason('a/one')).toBe('1 slots are needed, and older Services use up the 524288 of the node');
  expect(budget.reason('a/more')).toBe('65537 slots are needed, and a Service may have 65536');
  expect(budget.deniedServices).toBe(2);
});
