import { PendingChanges } from '../../../src/domain/state/pending-changes.js';

describe('PendingChanges', () => {
  it('collects, hands over, and starts over', () => {
    const pending = new PendingChanges();
    expect(pending.empty).toBe(true);
    pending.serviceChanged('a/b');
    pending.serviceChanged('a/b');
    pending.serviceChanged('a/c');
    expect([pending.empty, pending.serviceCount]).toEqual([false, 2]);
    expect(pending.dequeue()).toEqual({
      services: new Set(['a/b', 'a/c']),
      everyService: false,
      node: false,
      triggers: new Map(),
      triggerTimes: [],
    });
    expect([pending.empty, pending.serviceCount]).toEqual([true, 0]);
    expect(pending.dequeue().services.size).toBe(0);
  });

  it('what was taken does not change any more', () => {
    const pending = new PendingChanges();
    pending.serviceChanged('a/b');
    const taken = pending.dequeue();
    pending.serviceChanged('a/c');
    expect([...taken.services]).toEqual(['a/b']);
  });

  it.each(['everyServiceChanged', 'nodeChanged'] as const)('%s is a change by itself', (change) => {
    const pending = new PendingChanges();
    pending[change]();
    expect(pending.empty).toBe(false);
    expect(pending.dequeue()).toMatchObject({
      everyService: change === 'everyServiceChanged',
      node: change === 'nodeChanged',
    });
    expect(pending.empty).toBe(true);
    expect(pending.dequeue()).toMatchObject({ everyService: false, node: false });
  });

  it('keeps trigger times with repeats, and drops those of a Service that loses a slice (docs/internals/spec/model.md §8)', () => {
    const pending = new PendingChanges();
    pending.triggered('a/b', 1);
    pending.triggered('a/b', 1);
    pending.triggered('a/c', 2);
    pending.triggered('a/d', 3);
    pending.forgetTriggers('a/c');
    pending.triggered('a/c', 4);
    const { triggers, triggerTimes } = pending.dequeue();
    expect([...triggerTimes].sort()).toEqual([1, 1, 3, 4]);
    expect([...triggers]).toEqual([
      ['a/b', [1, 1]],
      ['a/d', [3]],
      ['a/c', [4]],
    ]);
    expect(pending.dequeue().triggerTimes).toEqual([]);
  });

  it('gets back the trigger times of a failed sync, but no endless number of them', () => {
    const pending = new PendingChanges();
    pending.triggeredEarlier([1, 2]);
    pending.triggered('a/b', 3);
    expect(pending.dequeue().triggerTimes).toEqual([1, 2, 3]);
    pending.triggeredEarlier(Array.from({ length: 20_000 }, (_, index) => index));
    expect(pending.dequeue().triggerTimes).toHaveLength(10_000);
  });
});
