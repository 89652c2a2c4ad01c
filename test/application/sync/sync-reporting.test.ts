import { FakeClock } from '../../../src/testing/fakes/fake-clock.js';
import { RecordingMetrics } from '../../support/fakes/recording-metrics.js';
import { ProxyHealth } from '../../../src/application/health/proxy-health.js';
import { retryDelay } from '../../../src/application/sync/backoff.js';
import { ChangeHistory } from '../../../src/application/status/change-history.js';
import { ServiceStatuses } from '../../../src/application/status/service-statuses.js';
import { SyncHistory } from '../../../src/application/status/sync-history.js';
import { SyncReporting } from '../../../src/application/sync/sync-reporting.js';

const REPORT = {
  ok: true,
  full: true,
  seconds: 0.5,
  written: 3,
  failed: 0,
  programmingLatencies: [0.9, 0.8],
  noLocalEndpoints: { internal: 1, external: 2 },
};

describe('SyncReporting', () => {
  let metrics: RecordingMetrics;
  let health: ProxyHealth;
  let history: SyncHistory;
  let changes: ChangeHistory;
  let reporting: SyncReporting;

  beforeEach(() => {
    metrics = new RecordingMetrics();
    health = new ProxyHealth(new FakeClock(1_000_000), 60_000);
    history = new SyncHistory(new FakeClock(1_000_000));
    changes = new ChangeHistory(new ServiceStatuses(), new FakeClock(1_000_000));
    reporting = new SyncReporting(health, metrics, history, changes);
  });

  it('reports a sync to health and metrics', () => {
    reporting.loopStarted('IPv4');
    expect(health.verdict().healthy).toBe(false);
    reporting.finished('IPv4', REPORT);
    expect(health.verdict().healthy).toBe(true);
    expect(metrics.of('syncFinished')).toEqual([
      ['IPv4', expect.objectContaining({ ok: true, full: true, seconds: 0.5 })],
    ]);
    expect(metrics.of('networkProgramming')).toEqual([
      ['IPv4', 0.9],
      ['IPv4', 0.8],
    ]);
    expect(metrics.of('noLocalEndpoints')).toEqual([
      ['internal', 'IPv4', 1],
      ['external', 'IPv4', 2],
    ]);
  });

  it('tells metrics when a sync begins', () => {
    reporting.dequeued('IPv6');
    expect(metrics.of('syncStarted')).toEqual([['IPv6']]);
  });

  it('a failed sync heals nothing', () => {
    reporting.loopStarted('IPv4');
    reporting.finished('IPv4', { ...REPORT, ok: false, error: 'refused' });
    expect(history.of('IPv4')).toMatchObject({ failures: 1, lastFailure: { reason: 'refused' } });
    expect(health.verdict().healthy).toBe(false);
    expect(metrics.of('syncFinished')).toEqual([['IPv4', expect.objectContaining({ ok: false })]]);
    expect([metrics.of('networkProgramming'), metrics.of('noLocalEndpoints')]).toEqual([[], []]);
  });

  it('remembers syncs of everything, failures and repairs as changes', () => {
    reporting.finished('IPv4', REPORT);
    reporting.finished('IPv4', { ...REPORT, full: false });
    for (const error of ['refused', 'refused']) reporting.finished('IPv6', { ...REPORT, ok: false, error });
    reporting.repaired('IPv4', 4);
    const at = 1_000_000;
    expect(changes.changes()).toEqual({
      total: 3,
      changes: [
        { what: 'everything-programmed', family: 'IPv4', at, steps: 3, took: 500 },
        { what: 'sync-failed', family: 'IPv6', at, steps: 3, took: 500, reason: 'refused' },
        { what: 'repaired', family: 'IPv4', at, steps: 4 },
      ],
    });
  });

  it('counts events, and those that wait for a sync', () => {
    reporting.serviceEvent('a/b', true);
    reporting.serviceEvent('a/b', true);
    reporting.serviceEvent('a/c', true);
    reporting.serviceEvent('a/d', false);
    reporting.endpointSliceEvent(true);
    reporting.endpointSliceEvent(false);
    expect([metrics.of('serviceChange').length, metrics.of('endpointChange').length]).toEqual([4, 2]);
    expect(metrics.of('serviceChangesPending').at(-1)).toEqual([2]);
    expect(metrics.of('endpointChangesPending').at(-1)).toEqual([1]);
    reporting.dequeued('IPv4');
    expect(metrics.of('serviceChangesPending').at(-1)).toEqual([0]);
    expect(metrics.of('endpointChangesPending').at(-1)).toEqual([0]);
    reporting.serviceEvent('a/b', true);
    reporting.finished('IPv4', REPORT);
    expect(metrics.of('serviceChangesPending').at(-1)).toEqual([1]);
  });

  it('remembers since when rules cannot be verified', () => {
    reporting.verified('IPv4', 'cannot read');
    expect(history.of('IPv4').unverified).toEqual({ since: 1_000_000, reason: 'cannot read' });
    reporting.verified('IPv4');
    expect(history.of('IPv4').unverified).toBeUndefined();
  });

  it('counts repairs', () => {
    reporting.repaired('IPv6', 4);
    expect(metrics.of('repaired')).toEqual([['IPv6', 4]]);
    expect(history.of('IPv6').drift).toMatchObject({ found: 1, repaired: 4 });
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
