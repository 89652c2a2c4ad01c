import { ServicePortRetries } from '../../../src/application/sync/service-port-outcomes.js';
import { FakeClock } from '../../../src/testing/fakes/fake-clock.js';
import type { ServicePortKey } from '../../../src/domain/model/service-port-name.js';

const A = 'shop/a/tcp/';
const B = 'shop/b/tcp/';

let clock: FakeClock;
/** How often each has failed in a row; missing: it does not fail. */
let attempts: Map<ServicePortKey, number>;
let limits: Map<ServicePortKey, 'mode' | 'node'>;
/** Each retry, with its time in milliseconds. */
let tried: string[];
let retries: ServicePortRetries;

beforeEach(() => {
  clock = new FakeClock(0);
  attempts = new Map();
  limits = new Map();
  tried = [];
  const start = clock.steady();
  retries = new ServicePortRetries(
    clock,
    { attempts: (key) => attempts.get(key), limitOf: (key) => limits.get(key) },
    (key) => tried.push(`${key.split('/')[1]} ${clock.steady() - start}`),
  );
});

function fails(key: ServicePortKey, times: number): void {
  attempts.set(key, times);
  retries.later(key);
}

it('a service port is tried once for each failure, later each time', () => {
  fails(A, 1);
  clock.advance(999);
  expect(tried).toEqual([]);
  clock.advance(1);
  expect(tried).toEqual(['a 1000']);
  clock.advance(60_000);
  expect(tried).toHaveLength(1);
  fails(A, 2);
  clock.advance(1_999);
  expect(tried).toHaveLength(1);
  clock.advance(1);
  expect(tried).toEqual(['a 1000', 'a 63000']);
});

it('failures in a short time delay it by a second, and as long as they have lasted', () => {
  fails(A, 1);
  clock.advance(100);
  fails(A, 2);
  clock.advance(100);
  fails(A, 3);
  clock.advance(1_199);
  expect(tried).toEqual([]);
  clock.advance(1);
  expect(tried).toEqual(['a 1400']);
});

it('a new failure after it worked counts from the start', () => {
  fails(A, 1);
  clock.advance(1_000);
  attempts.delete(A);
  clock.advance(20_000);
  fails(A, 1);
  expect(retries.recent()).toEqual([A]);
  clock.advance(1_000);
  expect(tried).toEqual(['a 1000', 'a 22000']);
});

it('those that are due within 20 ms are tried together, and each only once', () => {
  fails(A, 1);
  clock.advance(20);
  fails(B, 1);
  clock.advance(980);
  expect(tried).toEqual(['a 1000', 'b 1000']);
  clock.advance(10_000);
  expect(tried).toHaveLength(2);
});

it('those that are due later wait, and one that is being tried is not tried with another', () => {
  fails(A, 1);
  clock.advance(21);
  fails(B, 1);
  clock.advance(979);
  expect(tried).toEqual(['a 1000']);
  clock.advance(21);
  expect(tried).toEqual(['a 1000', 'b 1021']);
});

it('one that works by now is not tried', () => {
  fails(A, 1);
  attempts.delete(A);
  clock.advance(60_000);
  expect(tried).toEqual([]);
});

it('what the mode never serves is not tried, what the node lacks is, and neither counts as rejected', () => {
  limits.set(A, 'mode').set(B, 'node');
  fails(A, 1);
  fails(B, 1);
  expect(retries.recent()).toEqual([]);
  clock.advance(60_000);
  expect(tried).toEqual(['b 1000']);
});

it('those that were rejected for less than ten seconds are recent', () => {
  fails(A, 1);
  clock.advance(1_000);
  fails(A, 2);
  fails(B, 1);
  clock.advance(8_999);
  expect(retries.recent()).toEqual([A, B]);
  clock.advance(1);
  expect(retries.recent()).toEqual([B]);
  attempts.delete(B);
  expect(retries.recent()).toEqual([]);
});

it('nothing is tried after the end', () => {
  fails(A, 1);
  retries.stop();
  clock.advance(60_000);
  expect([tried, retries.recent()]).toEqual([[], []]);
});
