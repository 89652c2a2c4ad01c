import { ProxyHealth } from '../../../src/application/health/proxy-health.js';
import { NodeState } from '../../../src/application/status/node-state.js';
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
  const sources = {
    loops: [{ family: 'IPv4' as const, unreadSources: [] as string[], failedDeletes: [] as string[] }],
    statuses: new ServiceStatuses(),
    reports: new ObjectReports(new MemoryLogger(), clock),
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
    'a protocol that the mode does not support',
    ({ statuses }) => statuses.set('IPv4', 'a/b/sctp/', { ...failed, limitedBy: 'mode' }),
  ],
])('is not changed by %s', (_, change) => {
  const changed = node();
  changed.finish(true);
  change(changed);
  expect(changed.state.report()).toEqual({ state: 'ok', reasons: [] });
});
