import type { ClusterEvent } from '../../../src/application/ports/event-recorder.js';
import { ServiceStatuses } from '../../../src/application/status/service-statuses.js';
import type { JudgedService } from '../../../src/application/status/service-verdicts.js';
import {
  degradedPortEvents,
  failedPortEvents,
  LastingProblems,
  loggedVerdicts,
} from '../../../src/application/use-cases/port-events.js';
import { conflict } from '../../../src/domain/verdict/conflicts.js';
import { limited, noEndpoint, programmingFailed } from '../../../src/domain/verdict/sentences.js';
import { CAUSES, type Cause, type Verdict } from '../../../src/domain/verdict/verdict.js';
import { servicePortKey } from '../../../src/domain/model/service-port-name.js';
import { FakeClock } from '../../../src/testing/fakes/fake-clock.js';
import { MemoryLogger } from '../../../src/testing/fakes/memory-logger.js';

const CART = { namespace: 'shop', name: 'cart', selector: 'app=cart' };
const KEY = servicePortKey({ ...CART, port: 'http', protocol: 'TCP' });
const ok: Verdict = { state: 'ok', reason: '1 of 1 endpoint is ready' };

let posted: ClusterEvent[];
const recorder = { record: (event: ClusterEvent) => posted.push(event) };
beforeEach(() => {
  posted = [];
});

it('a port that is served with limits is an event, once for each reason', () => {
  let verdicts: readonly Verdict[] = [];
  const statuses = new ServiceStatuses(
    undefined,
    degradedPortEvents(recorder, 'n1', new FakeClock(), () => verdicts),
  );
  const degraded = (reason: string, verdict: Verdict) => {
    verdicts = [verdict, ok];
    statuses.set('IPv4', KEY, { state: 'degraded', sinceTime: 'now', reason });
  };
  degraded('no maglev', limited(CART, ['no maglev']));
  degraded('no maglev', limited(CART, ['no maglev']));
  const lost = [{ frontend: '10.96.0.1:80/TCP', owner: 'shop/other' }];
  degraded('lost', conflict(CART, lost, false));
  expect(posted.map(({ reason, note }) => [reason, note])).toEqual([
    [
      'LimitedProgramming',
      'node n1, tcp/http (IPv4): no maglev; compare with the Service: kubectl -n shop get service cart -o yaml',
    ],
    [
      'FrontendConflict',
      'tcp/http (IPv4): 10.96.0.1:80/TCP belongs to shop/other; remove the address or port from one of the Services: kubectl -n shop edit service cart',
    ],
  ]);
});

it('a conflict is the same event of all nodes', () => {
  const lost = [{ frontend: '10.96.0.1:80/TCP', owner: 'shop/other' }];
  for (const node of ['n1', 'n2'])
    degradedPortEvents(recorder, node, new FakeClock(), () => [conflict(CART, lost, false)])('IPv4', KEY);
  const [first, second] = posted;
  expect(first!.name).toMatch(/^cart\.[0-9a-f]+$/);
  expect(second).toEqual(first);
});

it('a Service with very many ports has a few events at once', () => {
  const clock = new FakeClock();
  const record = degradedPortEvents(recorder, 'n1', clock, () => [limited(CART, ['it'])]);
  for (let port = 0; port < 1000; port++) record('IPv4', `shop/cart/tcp/p${port}`);
  record('IPv4', 'shop/pay/tcp/');
  expect(posted.map(({ regarding }) => regarding.name)).toEqual([...Array<string>(5).fill('cart'), 'pay']);
  clock.advance(60_000);
  record('IPv4', 'shop/cart/tcp/p7');
  expect(posted).toHaveLength(7);
});

it('a port that the kernel rejects is an event, but not one that was never tried', () => {
  const record = failedPortEvents(recorder, 'n1');
  record('IPv4', KEY, { state: 'failed', sinceTime: 'now', reason: 'EINVAL', attempts: 0 });
  expect(posted).toEqual([]);
  record('IPv4', KEY, { state: 'failed', sinceTime: 'now', reason: 'EINVAL', attempts: 1 });
  expect(posted).toMatchObject([
    {
      reason: 'ProgrammingFailed',
      note: 'node n1, tcp/http (IPv4): it cannot be programmed on the node: EINVAL; check the proxy of the node: kubeproxy status',
    },
  ]);
});

describe('LastingProblems', () => {
  const problem: JudgedService = { service: 'shop/cart', verdict: noEndpoint(CART) };
  const former = { state: 'error', cause: 'NoPodSelected' } as const;
  let clock: FakeClock;
  let verdict: Verdict | undefined;
  let lasting: LastingProblems;
  beforeEach(() => {
    clock = new FakeClock();
    verdict = problem.verdict;
    lasting = new LastingProblems(
      recorder,
      () => verdict,
      clock,
      () => 0.5,
    );
  });

  it('records a problem that all nodes have once it has lasted, by a name that all nodes give it', () => {
    lasting.changed(problem, undefined);
    clock.advance(170_000);
    expect(posted).toEqual([]);
    clock.advance(20_000);
    expect(posted).toEqual([
      {
        regarding: { kind: 'Service', namespace: 'shop', name: 'cart' },
        type: 'Warning',
        reason: 'NoPodSelected',
        action: 'JudgeService',
        note: 'no pod has the labels app=cart; check the selector: kubectl -n shop get pods -l app=cart --show-labels',
        name: 'cart.nopodselected',
      },
    ]);
    lasting.changed(problem, former);
    clock.advance(600_000);
    expect(posted).toHaveLength(1);
  });

  it('records none that has passed, has another cause by now, or concerns this node alone', () => {
    lasting.changed(problem, undefined);
    lasting.changed({ ...problem, verdict: ok }, former);
    lasting.changed({ service: 'shop/web', verdict: programmingFailed('EINVAL', undefined) }, undefined);
    clock.advance(600_000);
    lasting.changed(problem, undefined);
    verdict = programmingFailed('EINVAL', undefined);
    clock.advance(600_000);
    expect(posted).toEqual([]);
  });

  it('records a few at a time, and none once it is stopped', () => {
    for (let number = 0; number < 12; number++)
      lasting.changed({ ...problem, service: `shop/s${number}` }, undefined);
    clock.advance(180_000);
    expect(posted).toHaveLength(5);
    clock.advance(10_000);
    expect(posted).toHaveLength(10);
    lasting.stop();
    clock.advance(600_000);
    expect(posted).toHaveLength(10);
  });
});

it('an error of this node is a warning in the log, once, and its end is told; all else is for those who look closer', () => {
  const logger = new MemoryLogger();
  const log = loggedVerdicts(logger, new FakeClock());
  const failed = programmingFailed('EINVAL', undefined);
  log({ service: 'shop/cart', verdict: failed }, undefined);
  log({ service: 'shop/cart', verdict: ok }, { state: 'error', cause: 'ProgrammingFailed' });
  log({ service: 'shop/web', verdict: noEndpoint(CART) }, undefined);
  log({ service: 'shop/web', verdict: limited(CART, ['it']) }, undefined);
  const shown = logger.lines.map(({ level, message, facts }) => [level, facts.service, message]);
  expect(shown).toEqual([
    ['warn', 'shop/cart', 'a Service does not work on this node'],
    ['info', 'shop/cart', 'a Service works on this node again'],
    ['debug', 'shop/web', 'the verdict on a Service has changed'],
    ['info', 'shop/web', 'a Service works with limits on this node'],
  ]);
  expect(logger.at('warn')[0]!.facts).toEqual({
    service: 'shop/cart',
    cause: 'ProgrammingFailed',
    reason: failed.reason,
    nextStep: failed.nextStep,
  });
});

describe('of all causes', () => {
  /** They follow from the objects alone. */
  const shared = [
    'AllTerminating',
    'ExternalName',
    'Headless',
    'InvalidObject',
    'NoClusterIP',
    'NoEndpoint',
    'NoEndpointSlice',
    'NoPodSelected',
    'NoReadyEndpoint',
    'NoSuchPort',
    'NoSuchTargetPort',
    'NotFound',
    'OnlyTerminating',
    'OtherFamily',
    'OtherProtocol',
    'OtherProxy',
  ];
  const all = Object.keys(CAUSES).sort() as Cause[];
  const problemOf = (cause: Cause): JudgedService => ({
    service: `shop/${cause}`,
    verdict: { state: 'error', cause, reason: 'it is', nextStep: 'fix it' },
  });

  it('those that are the same on every node are events of all nodes', () => {
    const clock = new FakeClock();
    const verdictOf = (service: string) => problemOf(service.slice('shop/'.length) as Cause).verdict;
    const lasting = new LastingProblems(recorder, verdictOf, clock, () => 0);
    for (const cause of all) lasting.changed(problemOf(cause), undefined);
    clock.advance(600_000);
    expect(posted.map(({ reason }) => reason)).toEqual(shared);
  });

  it('those of this node are warnings in the log, and their end is told', () => {
    const logger = new MemoryLogger();
    const log = loggedVerdicts(logger, new FakeClock());
    const own = all.filter((cause) => !shared.includes(cause) && cause !== 'NoLocalEndpoint');
    for (const cause of all) log(problemOf(cause), undefined);
    expect(logger.at('warn').map(({ facts }) => facts.cause)).toEqual(own);
    for (const cause of all) log({ ...problemOf(cause), verdict: ok }, { state: 'error', cause });
    const over = logger.at('info').map(({ facts }) => (facts as { service: string }).service);
    expect(over).toEqual(own.map((cause) => `shop/${cause}`));
  });
});
