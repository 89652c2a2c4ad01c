import { ApiClient } from '../../../../src/adapters/kubernetes/client/api-client.js';
import { proxyResources, type Resource } from '../../../../src/adapters/kubernetes/watch/resources.js';
import { defaultReflectorTimings } from '../../../../src/adapters/kubernetes/watch/reflector.js';
import { RewindCheck, type CheckedKind } from '../../../../src/adapters/kubernetes/watch/rewind-check.js';
import { StandInApiServer } from '../../../support/api-server/api-server.js';
import { writeKubeconfig } from '../../../support/api-server/kubeconfig.js';
import { CountingClock, RecordingLogger, service, until, versionChecksOf } from '../harness.js';

class Kind implements CheckedKind {
  listed = 0;

  constructor(
    readonly kind: 'Service' | 'EndpointSlice' | 'Node',
    public newest: string,
  ) {}

  get resource(): Resource {
    return proxyResources('node-a')[this.kind];
  }

  listAgain(): void {
    this.listed++;
  }
}

let api: StandInApiServer;
let client: ApiClient;
let check: RewindCheck;
let stop: AbortController;
const clock = new CountingClock();
const logger = new RecordingLogger();
const node = new Kind('Node', '');
const services = new Kind('Service', '1000');
const slices = new Kind('EndpointSlice', '1002');
const kinds = [node, services, slices];
const asked = (): string[] => versionChecksOf(api).map(({ path }) => path);

beforeEach(async () => {
  api = await StandInApiServer.start();
  for (const name of ['a', 'b', 'c']) api.put(service(name));
  client = new ApiClient({ kubeconfig: await writeKubeconfig(api) }, clock);
  stop = new AbortController();
  const timings = { ...defaultReflectorTimings, backoff: { initial: 5, maximum: 20, resetAfter: 1000 } };
  check = new RewindCheck(client, () => kinds, timings, clock, logger, stop.signal);
  for (const kind of kinds) kind.listed = 0;
  services.newest = '1000';
  slices.newest = '1002';
  logger.lines.length = 0;
});

afterEach(async () => {
  stop.abort();
  await check.stopped();
  client.close();
  await api.close();
  expect(clock.open.size).toBe(0);
});

it('asks once for all kinds whose watches had broken by then, without selectors, of the kind with the newest version', async () => {
  const broken = kinds.map(() => check.moment());
  for (const moment of broken) check.suspect(moment);
  await check.stopped();
  for (const moment of broken) check.suspect(moment);
  await check.stopped();
  expect(asked()).toEqual([slices.resource.path]);
  check.suspect(check.moment());
  await check.stopped();
  expect(asked()).toHaveLength(2);
  expect(kinds.map(({ listed }) => listed)).toEqual([0, 0, 0]);
});

it('asks again until the server answers', async () => {
  api.faults.fail({ status: 500, times: 3 });
  check.suspect(check.moment());
  await check.stopped();
  expect(asked()).toHaveLength(4);
  expect(logger.matching('warn', 'failed; retrying')).toHaveLength(1);
  expect(logger.matching('info', 'recovered')).toHaveLength(1);
});

it('has all kinds list again when one has seen a version that is gone, although others have not', async () => {
  slices.newest = '2000';
  check.suspect(check.moment());
  await check.stopped();
  expect(kinds.map(({ listed }) => listed)).toEqual([1, 1, 1]);
  expect(logger.matching('warn', 'gone back').map(({ facts }) => facts)).toEqual([
    { kind: 'EndpointSlice', before: '2000', now: '1003' },
  ]);
});

it('leaves out the kind whose list has shown it', () => {
  check.rewound(services, '2000', '1003');
  expect(kinds.map(({ listed }) => listed)).toEqual([1, 0, 1]);
});

it('takes nothing for a restore that was heard of after it asked, or that another list has shown meanwhile', async () => {
  api.faults.delay = 20;
  check.suspect(check.moment());
  await until(() => asked().length === 1);
  slices.newest = '2000';
  await check.stopped();
  expect(kinds.map(({ listed }) => listed)).toEqual([0, 0, 0]);
  check.suspect(check.moment());
  await until(() => asked().length === 2);
  check.rewound(slices, '2000', '1003');
  await check.stopped();
  expect(kinds.map(({ listed }) => listed)).toEqual([1, 1, 0]);
});
