import {
  ServiceVerdicts,
  type JudgedService,
  type Problem,
} from '../../../src/application/status/service-verdicts.js';
import { ServiceStatuses } from '../../../src/application/status/service-statuses.js';
import { ObjectReports } from '../../../src/application/use-cases/object-reports.js';
import { ForwardingTable } from '../../../src/domain/forwarding/forwarding-table.js';
import { timeText } from '../../../src/domain/model/text.js';
import { ClusterState } from '../../../src/domain/state/cluster-state.js';
import type { KernelObstacle } from '../../../src/domain/verdict/judge-port.js';
import type { FamilyPortKey } from '../../../src/domain/traffic/service-frontends.js';
import { FakeClock } from '../../../src/testing/fakes/fake-clock.js';
import { MemoryLogger } from '../../../src/testing/fakes/memory-logger.js';
import { FORWARDING, service, slice, sliceEndpoint } from '../../support/samples.js';
import { SYNC_REPORT } from '../../support/sync-report.js';

let clock: FakeClock;
let state: ClusterState;
let table: ForwardingTable;
let statuses: ServiceStatuses;
let reports: ObjectReports;
let unread: string[];
/** What the source itself rejects. */
let rejected: string[];
let ejected: Set<string>;
let waiting: Set<string>;
let found: object | undefined | Error;
let silent: Map<FamilyPortKey, ReadonlyMap<string, number>>;
let told: string[];
let obstacles: KernelObstacle[];
let verdicts: ServiceVerdicts;

beforeEach(() => {
  clock = new FakeClock();
  state = new ClusterState();
  ejected = new Set();
  waiting = new Set();
  found = undefined;
  table = new ForwardingTable({ ejected: () => ejected });
  statuses = new ServiceStatuses(undefined, undefined, (key) => verdicts.touch(key));
  rejected = [];
  reports = new ObjectReports(
    new MemoryLogger(),
    clock,
    () => rejected,
    (key) => verdicts.touch(key),
  );
  unread = [];
  silent = new Map();
  told = [];
  obstacles = [];
  const loop = {
    family: 'IPv4' as const,
    table,
    unreadObjects: unread,
    isWaiting: (key: string) => waiting.has(key),
  };
  verdicts = new ServiceVerdicts(
    {
      state,
      loops: () => [loop],
      statuses,
      reports,
      answers: { unresponsive: () => new Map(silent) },
      obstacles: () => obstacles,
      lookup: { find: () => (found instanceof Error ? Promise.reject(found) : Promise.resolve(found)) },
    },
    clock,
    ({ service: key, verdict }: JudgedService, former: Problem | undefined) =>
      told.push(`${key}: ${former?.cause ?? 'ok'} → ${verdict.cause ?? verdict.state}`),
  );
});

/** Delivers a Service with so many endpoints, and programs it. */
function given(name: string, endpoints: number, octet = 1): void {
  state.applyService(service({ name, clusterIPs: { IPv4: `10.96.7.${octet}` }, selector: `app=${name}` }));
  const ready = Array.from({ length: endpoints }, (_, index) => sliceEndpoint(`10.1.${octet}.${index + 1}`));
  state.applySlice(slice(`${name}-abcde`, ready, { service: name }));
  program(name);
}

function program(name: string): void {
  for (const { key, entry } of table.update(state, [`shop/${name}`], FORWARDING))
    if (entry) statuses.set('IPv4', key, { state: 'programmed', sinceTime: timeText(1) });
    else statuses.remove('IPv4', key);
}

const key = (name: string) => `shop/${name}/tcp/` as const;
const failed = { state: 'failed', sinceTime: timeText(1), reason: 'EINVAL', attempts: 1 } as const;

describe('ServiceVerdicts', () => {
  it('counts Services by their states, and keeps the counts as they change', () => {
    given('a', 2, 1);
    given('b', 0, 2);
    expect(verdicts.counts()).toEqual({ ok: 1, warning: 0, error: 1 });
    given('b', 1, 2);
    expect(verdicts.counts()).toEqual({ ok: 2, warning: 0, error: 0 });
    statuses.set('IPv4', key('a'), failed);
    expect(verdicts.counts()).toEqual({ ok: 1, warning: 0, error: 1 });
    statuses.set('IPv4', key('a'), { state: 'degraded', sinceTime: timeText(1), reason: 'r', limits: ['r'] });
    expect(verdicts.counts()).toEqual({ ok: 1, warning: 1, error: 0 });
    state.removeService('shop/a');
    program('a');
    expect(verdicts.counts()).toEqual({ ok: 1, warning: 0, error: 0 });
  });

  it('reports each change of a state or a cause once, all that come together in one go', () => {
    given('a', 2, 1);
    given('b', 0, 2);
    clock.advance(99);
    expect(told).toEqual([]);
    clock.advance(1);
    expect(told).toEqual(['shop/b: ok → NoPodSelected']);
    statuses.set('IPv4', key('b'), failed);
    clock.advance(100);
    given('b', 1, 2);
    clock.advance(100);
    given('b', 2, 2);
    clock.advance(100);
    expect(told.slice(1)).toEqual([
      'shop/b: NoPodSelected → ProgrammingFailed',
      'shop/b: ProgrammingFailed → ok',
    ]);
  });

  it('judges very many in portions', () => {
    for (let number = 0; number < 1_500; number++) {
      state.applyService(
        service({ name: `s${number}`, clusterIPs: { IPv4: `10.96.${number >> 8}.${number & 255}` } }),
      );
      program(`s${number}`);
    }
    clock.advance(100);
    expect(told).toHaveLength(1_000);
    clock.advance(1);
    expect(told).toHaveLength(1_500);
  });

  it('lists problems, errors first, then by name, as they are now', () => {
    given('w', 1, 1);
    given('z', 0, 2);
    given('y', 0, 3);
    given('x', 1, 4);
    statuses.set('IPv4', key('w'), { state: 'degraded', sinceTime: timeText(1), reason: 'r', limits: ['r'] });
    const listed = (limit: number) =>
      verdicts.problems(limit).map(({ service: name, verdict }) => `${name} ${verdict.cause}`);
    expect(listed(9)).toEqual(['shop/y NoPodSelected', 'shop/z NoPodSelected', 'shop/w LimitedProgramming']);
    expect(listed(1)).toEqual(['shop/y NoPodSelected']);
    expect([...verdicts.problemKeys()].sort()).toEqual(['shop/w', 'shop/y', 'shop/z']);
  });

  it('knows a Service that is invalid, and never was valid', () => {
    reports.report('Service', 'shop/bad', ['no port'], false);
    expect(verdicts.of('shop/bad')).toMatchObject({
      state: 'error',
      cause: 'InvalidObject',
      reason: 'it is invalid and ignored: no port',
    });
    expect(verdicts.counts()).toEqual({ ok: 0, warning: 0, error: 1 });
    reports.forget('Service', 'shop/bad');
    expect([verdicts.of('shop/bad'), verdicts.counts()]).toEqual([
      undefined,
      { ok: 0, warning: 0, error: 0 },
    ]);
  });

  it('follows the problems of EndpointSlices, too', () => {
    given('a', 1);
    reports.report('EndpointSlice', 'shop/a-abcde', ['endpoints[1] has no address'], true);
    expect(verdicts.problems(1)).toMatchObject([{ service: 'shop/a', verdict: { cause: 'FieldIgnored' } }]);
    reports.report('EndpointSlice', 'shop/a-abcde', [], true);
    expect(verdicts.problems(1)).toEqual([]);
  });

  it('looks again at what does not answer, once a second at most', () => {
    given('a', 3);
    expect(verdicts.counts().warning).toBe(0);
    silent.set(
      `IPv4 ${key('a')}`,
      new Map([
        ['10.1.1.2:8080', 5],
        ['10.9.9.9:1', 3],
      ]),
    );
    expect(verdicts.counts().warning).toBe(0);
    clock.advance(1_000);
    expect(verdicts.problems(1)).toMatchObject([
      {
        verdict: {
          state: 'warning',
          reason: '1 of 3 ready endpoints does not answer: 10.1.1.2:8080, 5 connections without an answer',
        },
      },
    ]);
    silent.clear();
    clock.advance(1_000);
    expect(verdicts.counts()).toEqual({ ok: 1, warning: 0, error: 0 });
  });

  it('counts a Service that keeps its rules because not everything could be read, after a sync of everything', () => {
    unread.push('a.yaml:7: broken');
    state.applyService(service({ name: 'a' }));
    verdicts.finished('IPv4', { ...SYNC_REPORT, ok: true, full: true });
    expect(verdicts.problems(1)).toMatchObject([{ verdict: { state: 'warning', cause: 'UnreadObjects' } }]);
  });

  it('knows a setting of the kernel that stops traffic of all', () => {
    given('a', 1);
    expect(verdicts.counts().error).toBe(0);
    obstacles.push({ kind: 'not-forwarded', text: 'net.ipv4.ip_forward is 0', affects: () => true });
    verdicts.touchAll();
    expect(verdicts.problems(1)).toMatchObject([
      { verdict: { state: 'error', cause: 'ForwardingDisabled', reason: 'net.ipv4.ip_forward is 0' } },
    ]);
  });

  it('follows what the source rejects, which it does not announce', () => {
    given('a', 1);
    expect(verdicts.counts()).toEqual({ ok: 1, warning: 0, error: 0 });
    rejected.push('a.yaml:7: Service shop/a: spec.type: is missing');
    expect(verdicts.problems(1)).toMatchObject([
      {
        verdict: {
          state: 'error',
          reason:
            'it is invalid and ignored: a.yaml:7: spec.type: is missing; its last valid version stays in use',
        },
      },
    ]);
    rejected.length = 0;
    expect(verdicts.counts()).toEqual({ ok: 1, warning: 0, error: 0 });
    rejected.push('a.yaml:9: EndpointSlice shop/a-abcde: addressType: is missing');
    expect(verdicts.counts()).toEqual({ ok: 0, warning: 0, error: 1 });
  });

  it('finds no invalid Service in the slices and the Services of like names', () => {
    reports.report('EndpointSlice', 'shop/bad-abcde', ['no type'], false);
    reports.report('Service', 'shop/good', ['an annotation'], true);
    expect([verdicts.of('shop/bad'), verdicts.of('shop/good')]).toEqual([undefined, undefined]);
  });

  it('counts ejected endpoints, and their return', () => {
    ejected.add('10.1.1.1:8080');
    state.applyService(service({ name: 'a', ejectUnresponsiveEndpoints: true }));
    state.applySlice(
      slice('a-abcde', [sliceEndpoint('10.1.1.1'), sliceEndpoint('10.1.1.2')], { service: 'a' }),
    );
    program('a');
    expect(verdicts.problems(1)).toMatchObject([{ verdict: { cause: 'UnresponsiveEndpoint' } }]);
    ejected.clear();
    table.update(state, ['shop/a'], FORWARDING);
    verdicts.touch('shop/a');
    expect(verdicts.counts()).toEqual({ ok: 1, warning: 0, error: 0 });
  });

  it('counts a port that is gone from the Service, and not from the kernel', () => {
    given('a', 1);
    statuses.set('IPv4', 'shop/a/tcp/old', failed);
    expect(verdicts.problems(1)).toMatchObject([
      { verdict: { state: 'error', reason: 'a port that it no longer has cannot be removed: EINVAL' } },
    ]);
    statuses.remove('IPv4', 'shop/a/tcp/old');
    expect(verdicts.counts()).toEqual({ ok: 1, warning: 0, error: 0 });
  });

  it('counts a Service whose only family is not served, and one without ports as ok', () => {
    state.applyService(service({ name: 'six', clusterIPs: { IPv6: 'fd00::1' } }));
    state.applyService(service({ name: 'portless', ports: [] }));
    verdicts.touchAll();
    expect(verdicts.problems(9)).toMatchObject([
      {
        service: 'shop/six',
        verdict: {
          state: 'warning',
          reason: 'its cluster IP is IPv6, and this node serves IPv4',
        },
      },
    ]);
    expect(verdicts.of('shop/portless')).toEqual({ state: 'ok', reason: '0 of 0 endpoints are ready' });
  });

  it('reports a change that waits for its sync when it is asked, and does not count it', () => {
    given('a', 1);
    waiting.add('shop/a');
    expect(verdicts.of('shop/a')).toMatchObject({ state: 'warning', cause: 'Pending' });
    expect(verdicts.counts()).toEqual({ ok: 1, warning: 0, error: 0 });
    state.applyService(service({ name: 'new', clusterIPs: { IPv4: '10.96.7.9' } }));
    expect(verdicts.of('shop/new')).toMatchObject({ state: 'warning', cause: 'Pending' });
  });

  it('counts Services that are not proxied by their own verdicts, until they are gone', () => {
    state.leaveService('shop/pending', 'no-cluster-ip');
    state.leaveService('shop/headless', 'headless');
    verdicts.touch('shop/pending');
    verdicts.touch('shop/headless');
    expect(verdicts.counts()).toEqual({ ok: 0, warning: 1, error: 0 });
    expect([verdicts.stateOf('shop/pending'), verdicts.stateOf('shop/headless')]).toEqual(['warning', 'ok']);
    reports.report('Service', 'shop/headless', ['no port'], false);
    expect(verdicts.of('shop/headless')).toMatchObject({ state: 'error', cause: 'InvalidObject' });
    reports.forget('Service', 'shop/headless');
    state.removeService('shop/pending');
    verdicts.touch('shop/pending');
    expect(verdicts.counts()).toEqual({ ok: 0, warning: 0, error: 0 });
  });

  it('returns the verdicts of a port in its family, and none of one that is gone', () => {
    given('a', 0);
    expect(verdicts.ofPort('IPv4', key('a'))).toMatchObject([{ cause: 'NoPodSelected' }]);
    expect([verdicts.ofPort('IPv6', key('a')), verdicts.ofPort('IPv4', key('b'))]).toEqual([[], []]);
  });

  it('names the owner of a frontend that a port lost, and where packets go', () => {
    given('a', 1, 1);
    given('b', 1, 2);
    const conflicts = [{ frontend: '10.96.7.1:80/TCP', owner: 'shop/a' }];
    statuses.set('IPv4', key('b'), { state: 'degraded', sinceTime: timeText(1), reason: 'r', conflicts });
    const b = table.entry(key('b'))!;
    const lost = { ...b, requested: [{ ...b.frontends[0]!, address: '10.96.7.1' }] };
    expect(verdicts.port(lost).frontends).toMatchObject([
      { outcome: 'conflict', reason: 'belongs to shop/a, packets go to its endpoint 10.1.1.1:8080' },
    ]);
  });

  it('queries the API server for a Service that is not known here', async () => {
    given('a', 1);
    expect(await verdicts.find('shop/a')).toMatchObject({ state: 'ok' });
    expect(await verdicts.find('pay/a')).toMatchObject({
      reason: 'there is no Service a in namespace pay; of that name there is shop/a',
    });
    const raw = { metadata: { namespace: 'pay', name: 'a' }, spec: { clusterIP: '10.96.0.9' } };
    found = { ...raw, spec: { clusterIP: 'None' } };
    expect(await verdicts.find('pay/a')).toMatchObject({ cause: 'Headless' });
    found = { ...raw, spec: { ...raw.spec, ports: [{ port: 80 }] } };
    expect(await verdicts.find('pay/a')).toMatchObject({ cause: 'Unknown', state: 'warning' });
    found = new Error('timeout');
    expect(await verdicts.find('pay/a')).toMatchObject({
      cause: 'Unknown',
      reason: expect.stringMatching(/cannot be queried: timeout$/) as string,
    });
  });

  it('judges what has just changed before it stops, and nothing afterwards', () => {
    given('a', 0);
    verdicts.stop();
    expect(told).toEqual(['shop/a: ok → NoPodSelected']);
    given('a', 1);
    clock.advance(10_000);
    expect(told).toHaveLength(1);
  });

  it('judges nothing after it has stopped, although nothing had changed just then', () => {
    given('a', 0);
    clock.advance(100);
    verdicts.stop();
    given('a', 1);
    clock.advance(10_000);
    expect([told, clock.pending]).toEqual([['shop/a: ok → NoPodSelected'], 0]);
  });
});
