import {
  combineListeners,
  type ForwardingListener,
} from '../../../src/application/ports/forwarding-listener.js';
import { sampleNode } from '../../../src/testing/contract/sample-services.js';

it('several listeners are called in turn, with what each of their calls is about', () => {
  const calls: unknown[] = [];
  const listener = (name: string): ForwardingListener => ({
    programming: (...facts: unknown[]) => void calls.push([name, 'programming', ...facts]),
    programmed: (...facts: unknown[]) => void calls.push([name, 'programmed', ...facts]),
    repaired: (...facts: unknown[]) => void calls.push([name, 'repaired', ...facts]),
  });
  const all = combineListeners([listener('a'), { programmed: () => undefined }, listener('b')]);
  const changes: readonly never[] = [];
  const programmed = { changes, failed: new Set<never>(), network: sampleNode('IPv4') };
  const lost = [{ address: '10.96.0.10', port: 53 }];
  all.programming?.(changes);
  all.programmed?.(programmed);
  all.repaired?.(lost);
  expect(calls).toEqual([
    ['a', 'programming', changes],
    ['b', 'programming', changes],
    ['a', 'programmed', programmed],
    ['b', 'programmed', programmed],
    ['a', 'repaired', lost],
    ['b', 'repaired', lost],
  ]);
});
