import { ProxyHealth } from '../../../src/application/health/proxy-health.js';
import { NodeState, UNEXPLAINED_RULES_KEPT } from '../../../src/application/status/node-state.js';
import { ServiceStatuses } from '../../../src/application/status/service-statuses.js';
import { SyncHistory } from '../../../src/application/status/sync-history.js';
import { ObjectReports } from '../../../src/application/use-cases/object-reports.js';
import { timeText } from '../../../src/domain/model/text.js';
import { FakeClock } from '../../../src/testing/fakes/fake-clock.js';
import { MemoryLogger } from '../../../src/testing/fakes/memory-logger.js';
import { SYNC_REPORT } from '../../support/sync-report.js';

/** A node for IPv4. */
function node() {
  const clock = new FakeClock(1_700_000_000_000);
  const unread: string[] = [];
  const sources = {
    loops: [{ family: 'IPv4' as const, unreadSources: [] as string[], failedDeletes: [] as string[] }],
    statuses: new ServiceStatuses(),
    unread,
    reports: new ObjectReports(new MemoryLogger(), clock, () => unread),
    history: new SyncHistory(clock),
    health: new ProxyHealth(clock, 60_000, () => []),
    obstacles: [] as string[],
    rejected: undefined as string | undefined,
    remaining: [] as string[],
  };
  const state = new NodeState({
    ...sources,
    obstacles: () => sources.obstacles,
    rejectedConfiguration: () => sources.rejected,
    remainingRules: () => sources.remaining,
  });
  sources.health.loopStarted('IPv4');
  const finish = (ok: boolean): void => {
    sources.history.finished('IPv4', { ...SYNC_REPORT, ok, ...(!ok && { error: 'no memory' }) });
    if (ok) sources.health.finished('IPv4', { ok });
  };
  return { ...sources, sources, state, finish };
}

type TestNode = ReturnType<typeof node>;

const sinceTime = timeText(1);
const failed = { state: 'failed', sinceTime, reason: 'no', attempts: 1 } as const;

it('is not serving before the first successful sync of a family, and ok after it', () => {
  const { state, finish } = node();
  expect(state.report()).toEqual({ state: 'not-serving', reasons: ['IPv4 was never programmed'] });
  finish(true);
  expect(state.report()).toEqual({ state: 'ok', reasons: [] });
});

it('is not serving without a family', () => {
  const { sources } = node();
  const none = { obstacles: () => [], rejectedConfiguration: () => undefined, remainingRules: () => [] };
  expect(new NodeState({ ...sources, loops: [], ...none }).report().state).toBe('not-serving');
});

it.each<[string, (node: TestNode) => void, string]>([
  ['a failed sync', ({ finish }) => finish(false), 'IPv4: the last sync failed: no memory'],
  [
    'a service port that the kernel rejects',
    ({ statuses }) => statuses.set('IPv4', 'a/b/tcp/', failed),
    'IPv4: 1 service port fails',
  ],
  [
    'a service port that lacks something on the node',
    ({ statuses }) =>
      statuses.set('IPv4', 'a/b/tcp/', {
        state: 'degraded',
        sinceTime,
        reason: 'x',
        limitedBy: 'node',
      }),
    'IPv4: 1 service port is degraded',
  ],
  [
    'service ports that the kernel rejects',
    ({ statuses }) => {
      statuses.set('IPv4', 'a/b/tcp/', failed);
      statuses.set('IPv4', 'a/c/tcp/', { ...failed, limitedBy: 'node' });
    },
    'IPv4: 2 service ports fail',
  ],
  [
    'service ports that lack something on the node, and frontends as well',
    ({ statuses }) => {
      const conflicts = [{ frontend: '10.96.0.1:80/TCP', owner: 'a/d' }];
      const degraded = { state: 'degraded', sinceTime, reason: 'x', limitedBy: 'node' } as const;
      statuses.set('IPv4', 'a/b/tcp/', degraded);
      statuses.set('IPv4', 'a/c/tcp/', { ...degraded, conflicts });
    },
    'IPv4: 2 service ports are degraded (1 of their frontends belong to other Services)',
  ],
  [
    'failed syncs',
    ({ finish }) => {
      finish(false);
      finish(false);
    },
    'IPv4: the last 2 syncs failed: no memory',
  ],
  [
    'rules that cannot be verified',
    ({ history }) => history.verified('IPv4', 'EPERM'),
    'IPv4: the rules cannot be verified: EPERM',
  ],
  ['an unreadable object', ({ unread }) => unread.push('a.yaml: EACCES'), '1 object cannot be read'],
  [
    'unreadable objects, besides one that is known',
    ({ unread }) =>
      unread.push('a.yaml: EACCES', 'b.yaml: EACCES', 'c.yaml:7: Service shop/cart: spec.type: is missing'),
    '2 objects cannot be read',
  ],
  [
    'a source that could not be read since the start',
    ({ loops: [loop] }) => loop!.unreadSources.push('a.yaml: EACCES'),
    UNEXPLAINED_RULES_KEPT,
  ],
  [
    'a pending deletion',
    ({ loops: [loop] }) => loop!.failedDeletes.push('a/b/tcp/'),
    'IPv4: 1 pending deletion of rules that no Service has: a/b/tcp/',
  ],
  ['a kernel setting', ({ sources }) => (sources.obstacles = ['ip_forward is 0']), 'ip_forward is 0'],
  [
    'a rejected edit of the configuration',
    ({ sources }) => (sources.rejected = 'mode: nonsense'),
    'the edited configuration is not in effect: mode: nonsense',
  ],
  ['rules of another mode', ({ sources }) => (sources.remaining = ['iptables: x']), 'iptables: x'],
])('is degraded by %s', (_, change, reason) => {
  const changed = node();
  changed.finish(true);
  change(changed);
  expect(changed.state.report()).toEqual({ state: 'degraded', reasons: [reason] });
});

it.each<[string, (node: TestNode) => void]>([
  [
    'a frontend that another Service owns',
    ({ statuses }) => statuses.set('IPv4', 'a/b/tcp/', { state: 'degraded', sinceTime, reason: 'conflict' }),
  ],
  [
    'an object that could not be read since the start, and is named',
    ({ loops: [loop] }) => loop!.unreadSources.push('a.yaml:7: Service shop/cart: spec.type: is missing'),
  ],
  [
    'a protocol that the mode does not support',
    ({ statuses }) => statuses.set('IPv4', 'a/b/sctp/', { ...failed, limitedBy: 'mode' }),
  ],
])('is not changed by %s', (_, change) => {
  const changed = node();
  changed.finish(true);
  change(changed);
  expect(changed.state.report()).toEqual({ state: 'ok', reasons: [] });
});

it('says when a verification works again, and since when it did not', () => {
  const { history } = node();
  const clock = new FakeClock(5_000);
  const own = new SyncHistory(clock);
  own.verified('IPv4');
  expect(own.of('IPv4')).toEqual(history.of('IPv4'));
  own.verified('IPv4', 'EPERM');
  clock.advance(1_000);
  own.verified('IPv4', 'EBUSY');
  expect(own.of('IPv4').unverified).toEqual({ sinceTime: timeText(5_000), reason: 'EBUSY' });
  own.verified('IPv4');
  expect(own.of('IPv4').unverified).toBeUndefined();
});
