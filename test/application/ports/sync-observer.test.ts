import { FakeClock } from '../../../src/testing/fakes/fake-clock.js';
import { RecordingObserver } from '../../support/recording-observer.js';
import { ProxyHealth } from '../../../src/application/health/proxy-health.js';
import { retryDelay } from '../../../src/application/retries.js';
import { ChangeHistory } from '../../../src/application/status/change-history.js';
import { ServiceStatuses } from '../../../src/application/status/service-statuses.js';
import { SyncHistory } from '../../../src/application/status/sync-history.js';
import { combineObservers, type SyncObserver } from '../../../src/application/ports/sync-observer.js';
import { timeText } from '../../../src/domain/model/text.js';
import { SYNC_REPORT } from '../../support/sync-report.js';

const REPORT = {
  ...SYNC_REPORT,
  seconds: 0.5,
  written: 3,
  programmingLatencies: [0.9, 0.8],
  noLocalEndpoints: { internal: 1, external: 2 },
};

describe('combined observers', () => {
  let recorded: RecordingObserver;
  let health: ProxyHealth;
  let history: SyncHistory;
  let changes: ChangeHistory;
  let observers: SyncObserver;

  beforeEach(() => {
    recorded = new RecordingObserver();
    health = new ProxyHealth(new FakeClock(1_000_000), 60_000);
    history = new SyncHistory(new FakeClock(1_000_000));
    changes = new ChangeHistory(new ServiceStatuses(), new FakeClock(1_000_000));
    observers = combineObservers([health, recorded, history, changes]);
  });

  it('tell each observer everything that it wants to hear', () => {
    observers.loopStarted('IPv4');
    observers.queued('IPv6');
    observers.dequeued('IPv6');
    observers.finished('IPv4', REPORT);
    observers.verified('IPv4', 'no memory');
    observers.repaired('IPv6', 4);
    observers.serviceEvent('a/b', true);
    observers.endpointSliceEvent(false);
    expect(recorded.calls).toEqual([
      'loopStarted IPv4',
      'queued IPv6',
      'dequeued IPv6',
      'finished IPv4',
      'verified IPv4 no memory',
      'repaired IPv6 4',
      'service true',
      'slice false',
    ]);
    expect(recorded.reports).toEqual([REPORT]);
    expect(history.of('IPv4').unverified).toEqual({ sinceTime: timeText(1_000_000), reason: 'no memory' });
    expect(history.of('IPv6').drift).toMatchObject({ repairs: 1, writtenSteps: 4 });
  });

  it('report a sync to health', () => {
    observers.loopStarted('IPv4');
    expect(health.verdict().healthy).toBe(false);
    observers.finished('IPv4', REPORT);
    expect(health.verdict().healthy).toBe(true);
  });

  it('a failed sync heals nothing', () => {
    observers.loopStarted('IPv4');
    observers.finished('IPv4', { ...REPORT, ok: false, error: 'refused' });
    expect(history.of('IPv4')).toMatchObject({ failures: 1, lastFailure: { reason: 'refused' } });
    expect(health.verdict().healthy).toBe(false);
  });

  it('remember syncs of everything, failures and repairs as changes', () => {
    observers.finished('IPv4', REPORT);
    observers.finished('IPv4', { ...REPORT, full: false });
    for (const error of ['refused', 'refused']) observers.finished('IPv6', { ...REPORT, ok: false, error });
    observers.repaired('IPv4', 4);
    const time = timeText(1_000_000);
    expect(changes.changes()).toEqual({
      total: 3,
      changes: [
        { kind: 'everything-programmed', family: 'IPv4', time, writtenSteps: 3, durationSeconds: 0.5 },
        {
          kind: 'sync-failed',
          family: 'IPv6',
          time,
          writtenSteps: 3,
          durationSeconds: 0.5,
          reason: 'refused',
        },
        { kind: 'repaired', family: 'IPv4', time, writtenSteps: 4 },
      ],
    });
  });
});

it('retryDelay doubles from one second to a minute, or within given limits', () => {
  expect([1, 2, 3, 4, 5].map((failures) => retryDelay(failures, { initial: 5, maximum: 30 }))).toEqual([
    5, 10, 20, 30, 30,
  ]);
  expect([0, 1, 2, 3, 6, 7, 8, 5000].map((failures) => retryDelay(failures))).toEqual([
    1000, 1000, 2000, 4000, 32_000, 60_000, 60_000, 60_000,
  ]);
});
