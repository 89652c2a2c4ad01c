import { FakeClock } from '../../../src/testing/fakes/fake-clock.js';
import { ProxyHealth } from '../../../src/application/health/proxy-health.js';
import type { SourceStatus } from '../../../src/application/ports/cluster-source.js';

const TIMEOUT = 60_000;
let clock: FakeClock;
let health: ProxyHealth;

beforeEach(() => {
  clock = new FakeClock(1_000_000);
  health = new ProxyHealth(clock, TIMEOUT);
  health.setNodeEligible(true);
});

describe('ProxyHealth', () => {
  it('is not healthy before the loop starts, nor before the first sync', () => {
    expect(health.verdict()).toMatchObject({ healthy: false, reason: 'the sync loop has not started' });
    health.loopStarted('IPv4');
    expect(health.verdict()).toMatchObject({ healthy: false, reason: 'IPv4: no sync has succeeded yet' });
    health.queued('IPv4');
    clock.advance(10 * TIMEOUT);
    expect(health.verdict().healthy).toBe(false);
    health.dequeued('IPv4');
    health.finished('IPv4', { ok: true });
    expect(health.verdict()).toMatchObject({ healthy: true, lastUpdated: clock.now() });
    expect(health.verdict()).not.toHaveProperty('reason');
  });

  it('waits for every family that has started', () => {
    health.loopStarted('IPv4');
    health.loopStarted('IPv6');
    health.finished('IPv4', { ok: true });
    const verdict = health.verdict();
    expect(verdict.reason).toBe('IPv6: no sync has succeeded yet');
    expect(verdict.families.get('IPv4')?.healthy).toBe(true);
    health.finished('IPv6', { ok: true });
    expect(health.verdict().healthy).toBe(true);
  });

  it('never becomes unhealthy by being idle', () => {
    health.finished('IPv4', { ok: true });
    clock.advance(100 * TIMEOUT);
    expect(health.verdict().healthy).toBe(true);
  });

  it('becomes unhealthy when the oldest wanted sync reaches the timeout, and heals', () => {
    health.finished('IPv4', { ok: true });
    const last = clock.now();
    clock.advance(1000);
    health.queued('IPv4');
    clock.advance(TIMEOUT - 1);
    health.queued('IPv4');
    expect(health.verdict().healthy).toBe(true);
    clock.advance(1);
    expect(health.verdict()).toMatchObject({
      healthy: false,
      reason: 'IPv4: a sync has been due for 60 s',
      lastUpdated: last,
    });
    health.dequeued('IPv4');
    expect(health.verdict().healthy).toBe(false);
    health.finished('IPv4', { ok: true });
    expect(health.verdict().healthy).toBe(true);
  });

  it('is alive before the first sync, however long nothing is listed', () => {
    clock.advance(100 * TIMEOUT);
    expect(health.liveness()).toMatchObject({ healthy: true, lastUpdated: undefined });
    expect(health.liveness()).not.toHaveProperty('reason');
    health.loopStarted('IPv4');
    expect(health.liveness().families.get('IPv4')).toEqual({ lastUpdated: undefined, healthy: true });
  });

  it('is not alive when a sync is overdue, the first one included', () => {
    health.loopStarted('IPv4');
    health.queued('IPv4');
    health.dequeued('IPv4');
    clock.advance(TIMEOUT - 1);
    expect(health.liveness().healthy).toBe(true);
    clock.advance(1);
    expect(health.liveness()).toMatchObject({
      healthy: false,
      reason: 'IPv4: a sync has been due for 60 s',
    });
    health.finished('IPv4', { ok: true });
    expect(health.liveness().healthy).toBe(true);
    health.queued('IPv4');
    clock.advance(TIMEOUT);
    expect(health.liveness().healthy).toBe(false);
  });

  it('uses another timeout once it is set', () => {
    health.loopStarted('IPv4');
    health.finished('IPv4', { ok: true });
    health.queued('IPv4');
    clock.advance(TIMEOUT / 2);
    expect(health.verdict().healthy).toBe(true);
    health.use(TIMEOUT / 2);
    expect(health.verdict().healthy).toBe(false);
  });

  it('keeps waiting for what was queued while a sync was running', () => {
    health.finished('IPv4', { ok: true });
    health.queued('IPv4');
    health.dequeued('IPv4');
    clock.advance(1000);
    health.queued('IPv4');
    health.finished('IPv4', { ok: true });
    clock.advance(TIMEOUT - 1);
    expect(health.verdict().healthy).toBe(true);
    clock.advance(1);
    expect(health.verdict().reason).toBe('IPv4: a sync has been due for 60 s');
  });

  it('waits for the oldest change of several syncs that failed', () => {
    health.finished('IPv4', { ok: true });
    health.queued('IPv4');
    health.dequeued('IPv4');
    clock.advance(TIMEOUT - 1);
    health.queued('IPv4');
    health.dequeued('IPv4');
    clock.advance(1);
    expect(health.verdict().healthy).toBe(false);
  });

  it('keeps eligibility apart from health', () => {
    expect(new ProxyHealth(clock, TIMEOUT).verdict().nodeEligible).toBe(false);
    health.finished('IPv4', { ok: true });
    expect(health.verdict()).toMatchObject({ healthy: true, nodeEligible: true });
    health.setNodeEligible(false);
    expect(health.verdict()).toMatchObject({ healthy: true, nodeEligible: false });
  });

  it('shows stale kinds, which are not unhealthy', () => {
    const service: SourceStatus = {
      kind: 'Service',
      state: 'watching',
      synced: true,
      connected: true,
      objects: 3,
      lastActivity: clock.now(),
    };
    health = new ProxyHealth(clock, TIMEOUT, () => [service]);
    health.finished('IPv4', { ok: true });
    expect(health.verdict().stale).toEqual([]);
    clock.advance(180_000);
    expect(health.verdict()).toMatchObject({
      healthy: true,
      stale: [{ kind: 'Service', reason: 'the watch has been idle for 180 s' }],
    });
  });
});
