import { ServicePortOutcomes } from '../../../src/application/sync/service-port-outcomes.js';
import { ServiceStatuses } from '../../../src/application/status/service-statuses.js';
import { FakeClock } from '../../../src/testing/fakes/fake-clock.js';
import { MemoryLogger } from '../../../src/testing/fakes/memory-logger.js';
import { entryOf } from '../../support/traffic/flows.js';
import { timeText } from '../../../src/domain/model/text.js';

const cart = { key: 'shop/cart/tcp/', entry: entryOf() };
const pay = { key: 'shop/pay/tcp/', entry: entryOf({ name: 'pay' }) };
const refused = { key: pay.key, reason: 'no room' };
const noted = (note: string) => ({ written: 0, failed: [], notes: [{ key: pay.key, note }] });

let clock: FakeClock;
let statuses: ServiceStatuses;
let logger: MemoryLogger;
let outcomes: ServicePortOutcomes;
beforeEach(() => {
  clock = new FakeClock(1_000);
  statuses = new ServiceStatuses();
  logger = new MemoryLogger();
  const table = { entry: () => pay.entry, ownerOf: () => undefined, reservedFor: () => undefined };
  outcomes = new ServicePortOutcomes('IPv4', table, statuses, clock, logger);
});

const warnings = () => logger.at('debug').flatMap(({ facts }) => facts.reason ?? []);

it('of service ports that stay degraded are logged when the reason is another one', () => {
  outcomes.record([cart, pay], noted('f'));
  clock.advance(1_000);
  outcomes.record([pay], noted('f'));
  expect(warnings()).toEqual(['f']);
  outcomes.record([pay], noted('g'));
  expect(warnings()).toEqual(['f', 'g']);
  expect(statuses.get('IPv4', pay.key)).toMatchObject({ sinceTime: timeText(1_000), reason: 'g' });
});

it('of service ports that lack something besides rules are degraded until it is there', () => {
  outcomes.record([cart, pay], { written: 0, failed: [] });
  clock.advance(1_000);
  outcomes.setMissing(pay.key, 'no port');
  expect(statuses.get('IPv4', pay.key)).toEqual({
    state: 'degraded',
    sinceTime: timeText(2_000),
    reason: 'no port',
    limits: ['no port'],
    limitedBy: 'node',
  });
  clock.advance(1_000);
  outcomes.setMissing(pay.key, 'no port');
  outcomes.record([pay], noted('f'));
  const both = 'f; no port';
  expect(statuses.get('IPv4', pay.key)).toMatchObject({
    state: 'degraded',
    sinceTime: timeText(2_000),
    reason: both,
  });
  expect(warnings()).toEqual(['no port', both]);
  outcomes.record([pay], { written: 0, failed: [refused] });
  outcomes.setMissing(pay.key, undefined);
  expect(statuses.get('IPv4', pay.key)).toMatchObject({ state: 'failed' });
  outcomes.record([pay], { written: 0, failed: [] });
  expect(statuses.get('IPv4', pay.key)).toMatchObject({ state: 'programmed' });
});

it('of many that fail together ten are logged, and how many more there are', () => {
  const ports = (count: number) =>
    Array.from({ length: count }, (_, index) => ({
      key: `shop${index}/cart/tcp/` as const,
      reason: 'EINVAL',
      ...(index > 10 && { waits: true as const }),
    }));
  const messages = () => logger.at('debug').map(({ message }) => message);
  outcomes.record([], { written: 0, failed: ports(10) });
  expect(messages()).toEqual(
    Array(10).fill('cannot program the service port; it keeps its rules in the kernel'),
  );
  logger.clear();
  outcomes.record([], { written: 0, failed: ports(13) });
  expect(messages()).toHaveLength(11);
  expect(logger.at('debug').at(-1)!.facts).toEqual({ family: 'IPv4', more: 3, waiting: 2 });
});

it('of failed service ports are counted without those that wait, since the first failure', () => {
  const failed = (more: object = {}) =>
    outcomes.record([], { written: 0, failed: [{ ...refused, ...more }] });
  failed({ waits: true });
  expect(outcomes.attempts(pay.key)).toBe(0);
  clock.advance(1_000);
  failed({ limitedBy: 'mode' });
  expect(statuses.get('IPv4', pay.key)).toEqual({
    state: 'failed',
    sinceTime: timeText(1_000),
    reason: 'no room',
    attempts: 1,
    limitedBy: 'mode',
  });
  expect([outcomes.limitOf(pay.key), outcomes.limitOf(cart.key)]).toEqual(['mode', undefined]);
  outcomes.record([{ key: pay.key, entry: undefined }], { written: 0, failed: [] });
  expect([statuses.get('IPv4', pay.key), outcomes.attempts(pay.key)]).toEqual([undefined, undefined]);
});

it('keep their note while they fail, as it is not known to be gone', () => {
  outcomes.record([pay], noted('f'));
  outcomes.record([pay], { written: 0, failed: [refused] });
  outcomes.setMissing(pay.key, undefined);
  outcomes.record([], { written: 0, failed: [], notes: [] });
  expect(statuses.get('IPv4', pay.key)).toMatchObject({ state: 'failed' });
  outcomes.record([pay], { written: 0, failed: [] });
  expect(statuses.get('IPv4', pay.key)).toMatchObject({ state: 'programmed' });
});
