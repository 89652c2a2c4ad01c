import { FailureLog } from '../../../../src/adapters/kubernetes/watch/retries.js';
import { RecordingLogger } from '../harness.js';

const PERIOD = 30_000;

let now: number;
let logger: RecordingLogger;
let log: FailureLog;

beforeEach(() => {
  now = 0;
  logger = new RecordingLogger();
  const clock = { now: () => now, steady: () => 0, after: () => ({ cancel: () => undefined }) };
  log = new FailureLog(logger, clock, PERIOD);
});

const warnings = () => logger.matching('warn', 'failed').map(({ facts }) => facts);
const recoveries = () => logger.matching('info', 'recovered').map(({ facts }) => facts);

/** Fails once a second, then succeeds. */
function outage(seconds: number): void {
  for (const end = now + seconds * 1000; now < end; now += 1000)
    log.failed(new Error('refused'), { kind: 'Service' });
  log.succeeded();
}

it('warns of a long outage once in each period, and reports its recovery once', () => {
  outage(61);
  log.succeeded();
  expect(warnings()).toEqual([
    { kind: 'Service', error: 'refused', failures: 1 },
    { kind: 'Service', error: 'refused', failures: 31 },
    { kind: 'Service', error: 'refused', failures: 61 },
  ]);
  expect(recoveries()).toEqual([{ failures: 61, milliseconds: 61_000 }]);
});

it('warns of a second outage soon after a warning, and reports its recovery', () => {
  outage(1);
  now += 2000;
  outage(15);
  expect(warnings().map(({ failures }) => failures)).toEqual([1, 1]);
  expect(recoveries()).toEqual([
    { failures: 1, milliseconds: 1000 },
    { failures: 15, milliseconds: 15_000 },
  ]);
});

it('logs three outages of a period, and the number of all others with the next one', () => {
  for (let n = 0; n < 10; n++) outage(1);
  expect([warnings().length, recoveries().length]).toEqual([3, 3]);
  now += PERIOD;
  outage(1);
  expect(warnings().at(-1)).toEqual({
    kind: 'Service',
    error: 'refused',
    failures: 1,
    unloggedOutages: 7,
  });
  now += PERIOD;
  outage(1);
  expect(warnings().at(-1)).not.toHaveProperty('unloggedOutages');
});

it('warns of a long outage that began as one of many', () => {
  for (let n = 0; n < 5; n++) outage(1);
  outage(60);
  expect(warnings().map(({ failures }) => failures)).toEqual([1, 1, 1, 26, 56]);
  expect(recoveries().at(-1)).toEqual({ failures: 60, milliseconds: 60_000 });
});
