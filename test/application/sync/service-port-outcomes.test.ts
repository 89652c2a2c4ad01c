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
