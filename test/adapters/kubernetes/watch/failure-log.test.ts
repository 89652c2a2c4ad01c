import { FailureLog } from '../../../../src/adapters/kubernetes/watch/failure-log.js';
import { RecordingLogger } from '../harness.js';

it('warns at most once in its time, and reports the recovery of what it warned of', () => {
  let now = 0;
  const logger = new RecordingLogger();
  const clock = { now: () => now, steady: () => 0, after: () => ({ cancel: () => undefined }) };
  const log = new FailureLog(logger, clock, 30_000);
  for (; now < 61_000; now += 1000) log.failed(new Error('refused'), { kind: 'Service' });
  expect(logger.matching('warn', 'failed').map(({ facts }) => facts)).toEqual([
    { kind: 'Service', error: 'refused', failures: 1 },
    { kind: 'Service', error: 'refused', failures: 31 },
    { kind: 'Service', error: 'refused', failures: 61 },
  ]);
  log.succeeded();
  log.succeeded();
  expect(logger.matching('info', 'recovered').map(({ facts }) => facts)).toEqual([
    { failures: 61, milliseconds: 61_000 },
  ]);

  // Flapping does not flood either.
  log.failed(new Error('again'), {});
  log.succeeded();
  expect(logger.matching('warn', 'failed')).toHaveLength(3);
  expect(logger.matching('info', 'recovered')).toHaveLength(1);
});
