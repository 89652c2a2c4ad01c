import { ApiClient } from '../../../../src/adapters/kubernetes/client/api-client.js';
import { Reflector, defaultReflectorTimings } from '../../../../src/adapters/kubernetes/watch/reflector.js';
import { proxyResources } from '../../../../src/adapters/kubernetes/watch/resources.js';
import { RewindCheck } from '../../../../src/adapters/kubernetes/watch/rewind-check.js';
import { StandInApiServer, type RecordedRequest } from '../../../support/api-server/api-server.js';
import { writeKubeconfig } from '../../../support/api-server/kubeconfig.js';
import { CountingClock, RecordingLogger, listsOf, service, until, type LogLine } from '../harness.js';

/** The watches of one kind after another kind has shown that the storage was restored from a backup. */

const SERVICES = '/api/v1/services';

let api: StandInApiServer;
let client: ApiClient;
let stop: AbortController;
let ended: Promise<unknown>;
const clock = new CountingClock();
const names = new Set<string>();

beforeEach(async () => {
  api = await StandInApiServer.start();
  client = new ApiClient({ kubeconfig: await writeKubeconfig(api) }, clock);
  stop = new AbortController();
  names.clear();
});

afterEach(async () => {
  stop.abort();
  await ended;
  client.close();
  await until(() => api.openConnections === 0);
  await api.close();
  expect(clock.open.size).toBe(0);
});

function follow(streamLists: boolean, synced: (reflector: Reflector) => void = () => {}): Reflector {
  const timings = { ...defaultReflectorTimings, watchTooShort: 20, streamLists };
  const logger = new RecordingLogger([] as LogLine[]);
  const rewinds = new RewindCheck(client, () => [], timings, clock, logger, stop.signal);
  const reflector: Reflector = new Reflector(
    proxyResources('node-a').Service,
    client,
    {
      applied: (object) => void names.add((object as { metadata: { name: string } }).metadata.name),
      deleted: ({ name }) => void names.delete(name),
      synced: () => synced(reflector),
      absent: () => {},
    },
    rewinds,
    timings,
    clock,
    logger,
  );
  ended = Promise.all([reflector.run(stop.signal), rewinds.stopped()]);
  return reflector;
}

/** The storage has what it had at the backup, and versions are given anew; connections stay. */
function restore(backup: ReturnType<StandInApiServer['store']['backup']>): void {
  api.store.restore(backup);
  api.store.bump(2);
}

/** After that many lists only one watch is open; it goes on from the version of the last list, and nothing is missed. */
async function expectOneWatchFromList(lists: number): Promise<void> {
  const last = (): RecordedRequest | undefined => api.requests.at(-1);
  await until(() => listsOf(api, SERVICES).length === lists && last()?.verb === 'watch');
  await until(() => api.openWatches === 1 && last()?.status === 200);
  const list = listsOf(api, SERVICES).at(-1)!;
  const watch = last()!;
  if (list !== watch) expect(watch.query.resourceVersion).toBe(String(api.store.version));
  api.put(service('after'));
  await until(() => names.has('after'));
  expect([...names].sort()).toEqual(['after', 'before']);
  expect(api.openWatches).toBe(1);
}

describe.each([true, false])('streamed lists: %s', (streamLists) => {
  it('an open watch is closed, and a new one begins at the new list', async () => {
    api.put(service('before'));
    const backup = api.store.backup();
    const reflector = follow(streamLists);
    await until(() => api.openWatches === 1 && names.has('before'));
    api.put(service('lost'));
    await until(() => names.has('lost'));
    restore(backup);
    reflector.listAgain();
    await expectOneWatchFromList(2);
    expect(listsOf(api, SERVICES).at(-1)!.query.resourceVersion).toBeUndefined();
  });

  it('a list that has just ended is not followed from its version', async () => {
    api.put(service('before'));
    const backup = api.store.backup();
    api.put(service('lost'));
    let restored = false;
    follow(streamLists, (reflector) => {
      if (restored) return;
      restored = true;
      restore(backup);
      reflector.listAgain();
    });
    await expectOneWatchFromList(2);
  });

  it('a list in progress is given up', async () => {
    api.put(service('before'));
    const backup = api.store.backup();
    api.put(service('lost'));
    api.faults.delay = 50;
    const reflector = follow(streamLists);
    await until(() => listsOf(api, SERVICES).length === 1);
    restore(backup);
    reflector.listAgain();
    api.faults.delay = 0;
    await expectOneWatchFromList(2);
  });

  it('a pause after a failure ends', async () => {
    api.put(service('before'));
    const reflector = follow(streamLists);
    await until(() => api.openWatches === 1 && names.has('before'));
    await api.close();
    await until(() => reflector.status().state === 'backing-off');
    await api.open();
    reflector.listAgain();
    await expectOneWatchFromList(2);
  });
});
