import { ServiceStatuses } from '../../../src/application/status/service-statuses.js';
import { timeText } from '../../../src/domain/model/text.js';

describe('ServiceStatuses', () => {
  it('keeps families apart and knows what failed', () => {
    const statuses = new ServiceStatuses();
    statuses.set('IPv4', 'a/b/tcp/', { state: 'failed', sinceTime: timeText(1), reason: 'no', attempts: 2 });
    statuses.set('IPv6', 'a/b/tcp/', { state: 'programmed', sinceTime: timeText(1) });
    statuses.set('IPv4', 'a/c/tcp/', { state: 'programmed', sinceTime: timeText(1) });
    expect(statuses.failures('IPv4')).toEqual([
      { servicePort: 'a/b/tcp/', reason: 'no', sinceTime: timeText(1) },
    ]);
    expect(statuses.failures('IPv6')).toEqual([]);
    expect(statuses.counts('IPv4')).toEqual({ programmed: 1, degraded: 0, failed: 1 });
    expect(statuses.keys('IPv4')).toEqual(['a/b/tcp/', 'a/c/tcp/']);
    statuses.set('IPv4', 'a/b/tcp/', { state: 'programmed', sinceTime: timeText(2) });
    expect(statuses.failures('IPv4')).toEqual([]);
    statuses.set('IPv4', 'a/b/tcp/', { state: 'failed', sinceTime: timeText(3), reason: 'no', attempts: 1 });
    statuses.remove('IPv4', 'a/b/tcp/');
    expect([statuses.failures('IPv4'), statuses.get('IPv4', 'a/b/tcp/')]).toEqual([[], undefined]);
    expect(statuses.get('IPv6', 'a/b/tcp/')).toEqual({ state: 'programmed', sinceTime: timeText(1) });
  });

  it('tells of each failure, and of nothing else', () => {
    const failures: unknown[] = [];
    const statuses = new ServiceStatuses((...failure) => failures.push(failure));
    const failed = { state: 'failed', sinceTime: timeText(1), reason: 'no', attempts: 1 } as const;
    statuses.set('IPv6', 'a/b/tcp/', failed);
    statuses.set('IPv4', 'a/b/tcp/', { state: 'programmed', sinceTime: timeText(2) });
    statuses.set('IPv6', 'a/b/tcp/', { ...failed, attempts: 2 });
    expect(failures).toEqual([
      ['IPv6', 'a/b/tcp/', failed],
      ['IPv6', 'a/b/tcp/', { ...failed, attempts: 2 }],
    ]);
  });

  it('counts what is degraded as programmed, and names it', () => {
    const statuses = new ServiceStatuses();
    statuses.set('IPv4', 'a/b/tcp/', {
      state: 'degraded',
      sinceTime: timeText(1),
      reason: 'f belongs to a/c',
    });
    expect(statuses.counts('IPv4')).toEqual({ programmed: 0, degraded: 1, failed: 0 });
    expect(statuses.degradations('IPv4')).toEqual([
      { servicePort: 'a/b/tcp/', reason: 'f belongs to a/c', sinceTime: timeText(1) },
    ]);
    expect(statuses.failures('IPv4')).toEqual([]);
    statuses.set('IPv4', 'a/b/tcp/', { state: 'failed', sinceTime: timeText(2), reason: 'no', attempts: 1 });
    expect(statuses.counts('IPv4')).toEqual({ programmed: 0, degraded: 0, failed: 1 });
    statuses.set('IPv4', 'a/b/tcp/', {
      state: 'degraded',
      sinceTime: timeText(3),
      reason: 'f belongs to a/c',
    });
    statuses.remove('IPv4', 'a/b/tcp/');
    expect(statuses.degradations('IPv4')).toEqual([]);
  });
});
