import { StandInApiServer } from '../../../support/api-server/api-server.js';
import { makeCertificates, type Certificates } from '../../../support/api-server/certificates.js';
import { writeKubeconfig } from '../../../support/api-server/kubeconfig.js';
import { DELIVERIES, listsOf, service, setUp, until, type Setup } from '../harness.js';

const SERVICES = '/api/v1/services';

let certificates: Certificates;
let api: StandInApiServer;
let setup: Setup;

beforeAll(async () => {
  certificates = await makeCertificates();
});
afterEach(async () => {
  await setup.source.stop();
  expect(setup.clock.open.size).toBe(0);
  await api.close();
});

/** What a reflector missed while it was disconnected, it makes up for, and says nothing of the rest. */
describe.each(DELIVERIES)('over $encoding in $listing', ({ encoding, streamLists }) => {
  beforeEach(async () => {
    api = await StandInApiServer.start(certificates);
    api.speaksProtobuf = encoding === 'protobuf';
  });

  async function startSynced(timings = {}): Promise<Setup> {
    setup = setUp({ kubeconfig: await writeKubeconfig(api) }, { streamLists, ...timings });
    await setup.source.start(setup.sink, new AbortController().signal);
    await until(() => setup.sink.kindsSynced.length === 4 && api.openWatches === 4);
    return setup;
  }

  /** Changes everything that can change, and leaves one object as it is. */
  function changeAll(): void {
    api.remove('v1', 'Service', { name: 'gone' });
    api.patch('v1', 'Service', { name: 'changed' }, { spec: { clusterIP: '172.30.0.9' } });
    api.put(service('new'));
  }

  const CHANGES = [
    'applied Service default/changed',
    'applied Service default/new',
    'deleted Service default/gone',
  ];

  async function expectChanges(change: () => void | Promise<void>): Promise<void> {
    const { calls, kindsSynced } = setup.sink;
    const before = calls.length;
    await change();
    await until(() => api.openWatches === 4 && calls.length >= before + CHANGES.length);
    expect(calls.slice(before).sort()).toEqual(CHANGES);
    expect(kindsSynced).toHaveLength(4);
  }

  beforeEach(async () => {
    for (const name of ['same', 'changed', 'gone']) api.put(service(name));
  });

  it('a watch that breaks is resumed, without a list', async () => {
    await startSynced();
    await expectChanges(() => {
      api.disconnectWatches();
      changeAll();
    });
    expect(listsOf(api, SERVICES)).toHaveLength(1);
  });

  it('a watch that hangs is cut off and resumed, once the storage has shown its version', async () => {
    const { logger } = await startSynced({ silenceMinimum: 200, silenceMaximum: 250 });
    await expectChanges(() => {
      api.hangWatches();
      changeAll();
    });
    expect(logger.matching('debug', 'silent')[0]!.facts.error).toMatch(/no data for 2\d\d ms/);
    expect(logger.lines.filter(({ level }) => level === 'warn')).toEqual([]);
    // On a busy machine it is silent more than once.
    const asked = listsOf(api, SERVICES).slice(1);
    expect(new Set(asked.map(({ query }) => query.limit))).toEqual(new Set(['1']));
  });

  it.each(['event', 'status'] as const)('410 Gone as %s leads to a list by difference', async (goneAs) => {
    api.faults.goneAs = goneAs;
    await startSynced();
    await expectChanges(async () => {
      await api.close();
      changeAll();
      api.compact();
      await api.open();
    });
    const { query } = listsOf(api, SERVICES).at(-1)!;
    expect(query.resourceVersionMatch).toBe('NotOlderThan');
    expect(Number(query.resourceVersion)).toBeGreaterThan(0);
  });

  it('a server that knows less than before is asked for the newest', async () => {
    const { sink } = await startSynced();
    await api.close();
    api.store.remove(SERVICES, 'default', 'gone');
    // Storage restored from an old backup: the version counter is behind what the proxy has seen.
    api.store.version = 500;
    api.store.compacted = 500;
    api.put(service('restored'));
    await api.open();
    api.faults.fail({ status: 410, reason: 'Expired', match: SERVICES, times: 1 });
    await until(
      () => sink.objects.has('Service default/restored') && !sink.objects.has('Service default/gone'),
    );
    expect(listsOf(api, SERVICES).at(-1)!.query.resourceVersion).toBeUndefined();
  });
});
