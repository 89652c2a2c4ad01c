import { FakeClock } from '../../../src/testing/fakes/fake-clock.js';
import { ProxyHealth } from '../../../src/application/health/proxy-health.js';
import { Readiness } from '../../../src/application/health/readiness.js';
import type { ResourceKind, SourceStatus } from '../../../src/application/ports/cluster-source.js';
import { ServiceStatuses } from '../../../src/application/status/service-statuses.js';
import { timeText } from '../../../src/domain/model/text.js';

let clock: FakeClock;
let health: ProxyHealth;
let statuses: ServiceStatuses;
let readiness: Readiness;
let missing: ResourceKind[];
let sources: SourceStatus[];
let unread: string[];
let otherModes: string[];

beforeEach(() => {
  clock = new FakeClock(1_000_000);
  sources = [];
  missing = [];
  unread = [];
  otherModes = [];
  health = new ProxyHealth(clock, 60_000, () => sources);
  statuses = new ServiceStatuses();
  readiness = new Readiness(
    health,
    statuses,
    () => missing,
    () => unread,
    () => otherModes,
    clock,
  );
});

const reasons = (): object =>
  Object.fromEntries(
    readiness.verdict().checks.flatMap(({ name, reason }) => (reason === undefined ? [] : [[name, reason]])),
  );

const fail = (key: string): void =>
  statuses.set('IPv4', key, {
    state: 'failed',
    sinceTime: timeText(clock.now()),
    reason: 'EINVAL',
    attempts: 1,
  });

describe('Readiness', () => {
  it('waits for the lists and the first sync of every family', () => {
    missing = ['Service', 'Node'];
    expect(reasons()).toEqual({
      'caches-synced': 'Service not listed yet; Node not listed yet',
      'first-sync': 'the sync loop has not started',
    });
    missing = [];
    health.loopStarted('IPv4');
    health.loopStarted('IPv6');
    health.finished('IPv4', { ok: true });
    expect(reasons()).toEqual({ 'first-sync': 'IPv6: no sync has succeeded yet' });
    health.finished('IPv6', { ok: true });
    expect(readiness.verdict()).toEqual({
      ready: true,
      now: clock.now(),
      checks: ['caches-synced', 'sources', 'first-sync', 'sync', 'services', 'watches', 'other-modes'].map(
        (name) => ({
          name,
        }),
      ),
    });
  });

  it('waits until everything could be read that rules may have been made for', () => {
    health.finished('IPv4', { ok: true });
    unread = ['/etc/services/shop.yaml:3: bad indentation'];
    expect(reasons()).toEqual({ sources: '/etc/services/shop.yaml:3: bad indentation' });
    unread = [];
    expect(readiness.verdict().ready).toBe(true);
  });

  it('is lost when a sync is overdue', () => {
    health.finished('IPv4', { ok: true });
    health.queued('IPv4');
    clock.advance(60_000);
    expect(reasons()).toEqual({ sync: 'IPv4: a sync has been due for 60 s' });
  });

  it('is lost while a check of forwarding finds a fault', () => {
    health.finished('IPv4', { ok: true });
    health.setForwardingFault('IPv4', 'no answer');
    expect(reasons()).toEqual({ forwarding: 'IPv4: no answer' });
    health.setForwardingFault('IPv4', undefined);
    expect(readiness.verdict().ready).toBe(true);
  });

  it('bears a failing service port for a minute', () => {
    health.finished('IPv4', { ok: true });
    fail('shop/cart/tcp/http');
    clock.advance(60_000);
    expect(readiness.verdict().ready).toBe(true);
    clock.advance(1_000);
    expect(reasons()).toEqual({ services: 'shop/cart/tcp/http (IPv4) for 61 s: EINVAL' });
    statuses.remove('IPv4', 'shop/cart/tcp/http');
    expect(readiness.verdict().ready).toBe(true);
  });

  it('bears a service port that the mode never serves, as long as it is there', () => {
    health.finished('IPv4', { ok: true });
    const sinceTime = timeText(clock.now());
    const failed = { state: 'failed', sinceTime, reason: 'not SCTP', attempts: 1 } as const;
    statuses.set('IPv4', 'shop/cart/sctp/s', { ...failed, limitedBy: 'mode' });
    statuses.set('IPv4', 'shop/cart/tcp/http', { ...failed, limitedBy: 'node', reason: 'in use' });
    clock.advance(61_000);
    expect(reasons()).toEqual({ services: 'shop/cart/tcp/http (IPv4) for 61 s: in use' });
  });

  it('is missing while rules of another mode cannot be removed', () => {
    health.finished('IPv4', { ok: true });
    otherModes = ['cannot remove the rules of mode nftables: EPERM'];
    expect(reasons()).toEqual({ 'other-modes': otherModes[0] });
  });

  it('names ten failing service ports at most', () => {
    health.finished('IPv4', { ok: true });
    for (let index = 0; index < 10; index++) fail(`shop/s${index}/tcp/`);
    clock.advance(61_000);
    expect(reasons()).toMatchObject({ services: expect.stringMatching(/s9\/tcp[^;]*$/) });
    for (let index = 10; index < 12; index++) fail(`shop/s${index}/tcp/`);
    clock.advance(61_000);
    expect(reasons()).toMatchObject({ services: expect.stringMatching(/s9\/tcp.*; and 2 more$/) });
  });

  it('needs news from the cluster', () => {
    health.finished('IPv4', { ok: true });
    sources = [
      {
        kind: 'EndpointSlice',
        state: 'backing-off',
        synced: true,
        connected: false,
        objects: 2,
        lastActivity: clock.now() - 90_000,
        failure: 'connection refused',
      },
    ];
    expect(reasons()).toEqual({ watches: 'EndpointSlice: no watch for 90 s: connection refused' });
  });
});
