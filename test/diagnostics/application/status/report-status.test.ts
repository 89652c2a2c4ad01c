import { ProxyHealth } from '../../../../src/application/health/proxy-health.js';
import type { ResourceKind, SourceStatus } from '../../../../src/application/ports/cluster-source.js';
import { proxyStatusLines } from '../../../../src/diagnostics/adapters/cli/commands/status.js';
import { parseAnswer } from '../../../../src/diagnostics/application/parse-answer.js';
import { statusAnswer } from '../../../../src/diagnostics/application/status/proxy-status.js';
import { ReportStatus } from '../../../../src/diagnostics/application/status/report-status.js';
import type { JudgedService } from '../../../../src/application/status/service-verdicts.js';
import { NodeState } from '../../../../src/application/status/node-state.js';
import { ServiceStatuses } from '../../../../src/application/status/service-statuses.js';
import { SyncHistory } from '../../../../src/application/status/sync-history.js';
import { ObjectReports } from '../../../../src/application/use-cases/object-reports.js';
import { FakeClock } from '../../../../src/testing/fakes/fake-clock.js';
import { MemoryLogger } from '../../../../src/testing/fakes/memory-logger.js';
import { shownLines } from '../../../support/shown-lines.js';
import { timeText } from '../../../../src/domain/model/text.js';
import { SYNC_REPORT } from '../../../support/sync-report.js';

const proxyStatusText = (...args: Parameters<typeof proxyStatusLines>): string =>
  shownLines(proxyStatusLines(...args));

const START = Date.parse('2026-05-04T10:00:00Z');
const FACTS = {
  node: 'n1',
  mode: 'nftables',
  versions: { program: '1.2.3', kubernetes: 'v1.36.0', nodejs: 'v20.19.0', kernel: '6.1.0' },
  startTime: timeText(START),
};
const REPORT = { ...SYNC_REPORT, seconds: 0.012, written: 9 };
const WATCH = { kind: 'Service', state: 'watching', synced: true, connected: true, objects: 3 } as const;

/** A proxy for IPv4, of which a test changes what is reported. */
class Reported {
  readonly clock = new FakeClock(START);
  readonly statuses = new ServiceStatuses();
  readonly reports = new ObjectReports(new MemoryLogger(), new FakeClock());
  readonly history = new SyncHistory(this.clock);
  sources: SourceStatus[] = [];
  missing: ResourceKind[] = [];
  refused: string | undefined;
  remaining: string[] = [];
  removing: string | undefined;
  warnings: string[] = [];
  obstacles: string[] = [];
  counts = { ok: 0, warning: 0, error: 0 };
  problems: JudgedService[] = [];
  readonly health = new ProxyHealth(this.clock, 60_000, () => this.sources);
  readonly loop = {
    family: 'IPv4' as const,
    inSync: false,
    pending: { serviceCount: 0 },
    unreadObjects: [] as string[],
    unreadSources: [] as string[],
    failedDeletes: [] as string[],
  };
  private readonly report = new ReportStatus(
    FACTS,
    [this.loop],
    {
      status: () => this.sources,
      missing: () => this.missing,
      removing: () => this.removing,
      warnings: () => this.warnings,
    },
    new NodeState({
      loops: [this.loop],
      statuses: this.statuses,
      reports: this.reports,
      history: this.history,
      health: this.health,
      rejectedConfiguration: () => this.refused,
      remainingRules: () => this.remaining,
      obstacles: () => this.obstacles,
    }),
    { counts: () => this.counts, problems: () => this.problems },
    this.statuses,
    this.reports,
    this.history,
    this.health,
    this.clock,
  );

  /** After its first sync, when nothing waits. */
  static serving(): Reported {
    const reported = new Reported();
    reported.health.loopStarted('IPv4');
    reported.finish();
    return reported;
  }

  finish(parts: Partial<typeof REPORT & { readonly error: string }> = {}): void {
    const report = { ...REPORT, ...parts };
    this.history.finished('IPv4', report);
    if (report.ok) this.health.finished('IPv4', { ok: true });
    this.loop.inSync = report.ok;
  }

  get status() {
    return this.report.status();
  }
}

describe('ReportStatus', () => {
  it('is degraded while a setting of the kernel stops traffic', () => {
    const reported = Reported.serving();
    reported.obstacles = ['IPv4: net.ipv4.ip_forward is 0: nothing is forwarded'];
    expect(reported.status).toMatchObject({ state: 'degraded', reasons: reported.obstacles });
    reported.obstacles = [];
    expect(reported.status.state).toBe('ok');
  });

  it('is good when everything is programmed and nothing fails', () => {
    const reported = Reported.serving();
    reported.statuses.set('IPv4', 'a/b/tcp/', { state: 'programmed', sinceTime: timeText(1) });
    reported.clock.advance(61_000);
    expect(reported.status).toEqual({
      state: 'ok',
      reasons: [],
      warnings: [],
      ...FACTS,
      time: timeText(START + 61_000),
      inSync: true,
      lagSeconds: 0,
      pendingReasons: [],
      families: [
        {
          family: 'IPv4',
          inSync: true,
          pendingServices: 0,
          programmed: 1,
          failed: [],
          degraded: [],
          sync: reported.history.of('IPv4'),
        },
      ],
      serviceCounts: { ok: 0, warning: 0, error: 0 },
      serviceProblems: [],
      ignored: [],
      watches: [],
      lastErrors: [],
    });
  });

  it.each<[string, (reported: Reported) => void, readonly string[]]>([
    [
      'a service port fails',
      ({ statuses }) =>
        statuses.set('IPv4', 'a/c/tcp/', {
          state: 'failed',
          sinceTime: timeText(START),
          reason: 'EINVAL',
          attempts: 1,
        }),
      ['IPv4: 1 service port fails'],
    ],
    [
      'the node lacks what a service port needs',
      ({ statuses }) =>
        statuses.set('IPv4', 'a/c/tcp/', {
          state: 'degraded',
          sinceTime: timeText(START),
          reason: '127.0.0.1:30080 is in use',
          limitedBy: 'node',
        }),
      ['IPv4: 1 service port is degraded'],
    ],
    [
      'syncs fail',
      (reported) => reported.finish({ ok: false, error: 'EPERM' }),
      ['IPv4: the last sync failed: EPERM'],
    ],
    [
      'the rules cannot be verified',
      ({ history }) => history.verified('IPv4', 'out of memory'),
      ['IPv4: the rules cannot be verified: out of memory'],
    ],
    [
      'a sync is overdue',
      ({ health, clock }) => {
        health.queued('IPv4');
        clock.advance(70_000);
      },
      ['IPv4: a sync has been due for 70 s'],
    ],
    [
      'a sync that is overdue fails',
      (reported) => {
        reported.health.queued('IPv4');
        reported.clock.advance(70_000);
        reported.finish({ ok: false, error: 'EPERM' });
      },
      ['IPv4: the last sync failed: EPERM'],
    ],
    [
      'a watch is broken',
      (reported) => {
        reported.sources = [{ ...WATCH, connected: false, lastActivity: START, failure: 'ECONNREFUSED' }];
        reported.clock.advance(90_000);
      },
      ['Service: no watch for 90 s: ECONNREFUSED'],
    ],
    [
      'not everything could be read',
      ({ loop }) => {
        loop.unreadObjects.push('a.yaml:7: broken');
        loop.unreadSources.push('a.yaml:7: broken');
      },
      ['rules that no object explains are kept until everything has been readable once'],
    ],
    [
      'what no service port has stays',
      ({ loop }) => loop.failedDeletes.push('delete 10.9.9.9 was rejected: EINVAL', 'another'),
      ['IPv4: 2 pending deletions of rules that no Service has: delete 10.9.9.9 was rejected: EINVAL'],
    ],
    [
      'an edit of the configuration was refused',
      (reported) => (reported.refused = 'mode cannot change'),
      ['the edited configuration is not in effect: mode cannot change'],
    ],
    [
      'rules of other modes could not be removed',
      (reported) => (reported.remaining = ['cannot remove the rules of mode ipvs: EBUSY']),
      ['cannot remove the rules of mode ipvs: EBUSY'],
    ],
  ])('is degraded when %s', (_, change, reasons) => {
    const reported = Reported.serving();
    change(reported);
    expect(reported.status).toMatchObject({ state: 'degraded', reasons });
    expect(parseAnswer(JSON.stringify(reported.status), statusAnswer)).toEqual(reported.status);
  });

  it.each<[string, (reported: Reported) => void, readonly string[]]>([
    [
      'an object has invalid parts',
      ({ reports }) =>
        reports.report('Service', 'a/d', ['spec.externalIPs[0] "x" is not an IP address'], true),
      ['1 object has parts that are ignored'],
    ],
    [
      'an object is ignored',
      ({ reports }) => reports.report('Service', 'a/d', ['no port'], false),
      ['1 object is ignored'],
    ],
    [
      'several objects are ignored',
      ({ reports }) => {
        for (const name of ['a/d', 'a/e']) reports.report('Service', name, ['no port'], false);
      },
      ['2 objects are ignored'],
    ],
    [
      'invalid objects at the start may be what unexplained rules are for',
      ({ loop }) => {
        loop.unreadObjects.push('Service a/d: no port', 'a.yaml:7: Service a/e: no port');
        loop.unreadSources.push('a.yaml:7: Service a/e: no port');
      },
      ['rules that no object explains are kept until everything has been readable once'],
    ],
  ])('is good, with a warning, when %s', (_, change, warnings) => {
    const reported = Reported.serving();
    change(reported);
    expect(reported.status).toMatchObject({ state: 'ok', reasons: [], warnings });
    expect(parseAnswer(JSON.stringify(reported.status), statusAnswer)).toEqual(reported.status);
  });

  it('is good and not in sync while rules of other modes are looked for and removed', () => {
    const reported = Reported.serving();
    expect(reported.status).toMatchObject({ state: 'ok', inSync: true, pendingReasons: [] });
    reported.removing = 'rules of other modes';
    expect(reported.status).toMatchObject({
      state: 'ok',
      inSync: false,
      pendingReasons: ['rules of other modes'],
    });
  });

  it('is good again after failures, and remembers the last error', () => {
    const reported = Reported.serving();
    reported.finish({ ok: false, error: 'EPERM' });
    reported.clock.advance(1000);
    reported.finish();
    expect(reported.status).toMatchObject({
      state: 'ok',
      lastErrors: [{ time: timeText(START), message: 'IPv4: a sync failed: EPERM' }],
    });
  });

  it('remembers the last errors, the latest first', () => {
    const reported = Reported.serving();
    const failed = (name: string, since: number) =>
      reported.statuses.set('IPv4', `a/${name}/tcp/`, {
        state: 'failed',
        sinceTime: timeText(since),
        reason: 'EINVAL',
        attempts: 1,
      });
    failed('b', START + 1);
    reported.finish({ ok: false, error: 'EPERM' });
    expect(reported.status.lastErrors.map(({ time }) => Date.parse(time) - START)).toEqual([1, 0]);
    failed('c', START - 1);
    expect(reported.status.lastErrors.map(({ time }) => Date.parse(time) - START)).toEqual([0, -1]);
  });

  it.each<[string, (reported: Reported) => void, readonly string[]]>([
    [
      'the first lists',
      (reported) => (reported.missing = ['Service', 'Node']),
      ['everything, for the first list of Service', 'everything, for the first list of Node'],
    ],
    ['the Node', () => {}, ['IPv4: everything, for the Node object n1']],
    [
      'the first sync to succeed',
      (reported) => {
        reported.health.loopStarted('IPv4');
        reported.finish({ ok: false, error: 'EPERM' });
      },
      ['IPv4: everything that has changed, for the next attempt after a failure'],
    ],
  ])('does not serve while it waits for %s', (_, change, pendingReasons) => {
    const reported = new Reported();
    change(reported);
    expect(reported.status).toMatchObject({ state: 'not-serving', inSync: false, pendingReasons });
    expect(reported.status.reasons).toContain('IPv4 was never programmed');
  });

  it('measures the lag from the oldest change, and says what waits', () => {
    const reported = Reported.serving();
    reported.clock.advance(1000);
    reported.health.queued('IPv4');
    reported.loop.inSync = false;
    reported.loop.pending.serviceCount = 2;
    reported.clock.advance(2500);
    expect(reported.status).toMatchObject({
      state: 'ok',
      inSync: false,
      lagSeconds: 2.5,
      pendingReasons: ['IPv4: 2 Services, for the running or next sync'],
      families: [{ pendingServices: 2, pendingSinceTime: timeText(START + 1000) }],
    });
    reported.health.dequeued('IPv4');
    reported.health.queued('IPv4');
    reported.clock.advance(500);
    expect(reported.status.lagSeconds).toBe(3);
  });

  it('is text for people', () => {
    const reported = Reported.serving();
    reported.sources = [
      { ...WATCH, lastActivity: START },
      { ...WATCH, kind: 'ServiceCIDR', state: 'absent' },
    ];
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f', 'g'])
      reported.statuses.set('IPv4', `shop/${name}/tcp/`, {
        state: 'failed',
        sinceTime: timeText(START),
        reason: 'EINVAL',
        attempts: 1,
      });
    reported.history.repaired('IPv4', 3);
    reported.clock.advance(3_725_000);
    const text = `n1: degraded
  reason: IPv4: 7 service ports fail
  reason: Service: the watch has been idle for 3725 s
  nftables mode, version 1.2.3 for Kubernetes v1.36.0, Node.js v20.19.0, Linux 6.1.0
  running since 2026-05-04T10:00:00.000Z, for 1 h 2 min
  IPv4: in sync, 0 service ports programmed, 7 failing, last sync 2026-05-04T10:00:00.000Z in 12 ms, 1 repair after another program, the last 2026-05-04T10:00:00.000Z
  Services: 0 ok, 0 warning, 0 error
  watch Service: connected, 3 objects, last data 3725 s ago
  last error: 2026-05-04T10:00:00.000Z IPv4: shop/g failed: EINVAL
`;
    expect(proxyStatusText(reported.status, true)).toBe(text);
  });

  it('warns, and is good all the same', () => {
    const reported = Reported.serving();
    reported.warnings = ['connections cannot be counted'];
    expect(reported.status).toMatchObject({ state: 'ok', reasons: [], warnings: reported.warnings });
    expect(proxyStatusText(reported.status, false)).toContain(
      'n1: ok\n  warning: connections cannot be counted\n  nftables mode',
    );
  });

  it('names the worst Services', () => {
    const reported = Reported.serving();
    const reason = '10.96.0.1:80/TCP belongs to a/b';
    const conflicts = [{ frontend: '10.96.0.1:80/TCP', owner: 'a/b' }];
    reported.statuses.set('IPv4', 'a/c/tcp/', {
      state: 'degraded',
      sinceTime: timeText(START),
      reason,
      conflicts,
    });
    expect(reported.status.families[0]!.degraded).toMatchObject([{ servicePort: 'a/c', conflicts }]);
    reported.counts = { ok: 5, warning: 1, error: 0 };
    reported.problems = [
      { service: 'a/c', verdict: { state: 'warning', cause: 'FrontendConflict', reason } },
    ];
    expect(proxyStatusText(reported.status, false)).toContain(
      `  Services: 5 ok, 1 warning, 0 error\n    warning: a/c: ${reason}\n`,
    );
    reported.statuses.set('IPv4', 'a/c/tcp/', { state: 'programmed', sinceTime: timeText(START) });
    expect(reported.status).toMatchObject({ state: 'ok', families: [{ degraded: [] }] });
  });

  it('leaves out what URLs ask for, unless everything is wanted', () => {
    const reported = Reported.serving();
    const failure =
      'GET https://10.0.0.1:6443/api/v1/services?watch=true&timeoutSeconds=5: connect ECONNREFUSED';
    reported.sources = [{ ...WATCH, connected: false, state: 'backing-off', failure }];
    expect(proxyStatusText(reported.status, false)).toContain(
      '  watch Service: backing off, 3 objects, GET https://10.0.0.1:6443/api/v1/services: connect ECONNREFUSED\n',
    );
    expect(proxyStatusText(reported.status, true)).toContain(`, ${failure}\n`);
  });

  it('shows a message of a megabyte at once', () => {
    const reported = Reported.serving();
    for (const failure of [
      'https://'.repeat(130_000),
      `https://${'a'.repeat(1_000_000)}`,
      '?'.repeat(1_000_000),
    ]) {
      reported.sources = [{ ...WATCH, failure }];
      expect(proxyStatusText(reported.status, false)).toContain(`, ${failure}\n`);
    }
  });

  it.each([
    [0, '0 s'],
    [9000, '9 s'],
    [429_000, '7 min 9 s'],
    [90_000_000, '1 d 1 h'],
  ])('says for how long it has run: %i ms', (milliseconds, shown) => {
    const reported = Reported.serving();
    reported.clock.advance(milliseconds);
    expect(proxyStatusText(reported.status, false)).toContain(`, for ${shown}\n`);
  });
});
