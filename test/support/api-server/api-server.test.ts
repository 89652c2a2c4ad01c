import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { Agent, request } from 'node:https';
import { StandInApiServer } from './api-server.js';
import { ClusterRole } from './cluster-role.js';
import { RELEASES } from './release.js';

const EVENTS = '/apis/events.k8s.io/v1/namespaces/default/events';

let api: StandInApiServer;
let agent: Agent;

beforeAll(async () => {
  api = await StandInApiServer.start();
  api.clusterRole = undefined;
  agent = new Agent({ ca: api.certificates.authority });
});

afterAll(() => api.close());

function send(
  method: string,
  path: string,
  body?: object,
  type = 'application/json',
): Promise<{ code: number; body: Record<string, unknown> }> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: 'Bearer stand-in-token', 'content-type': type };
    const sent = request(`${api.url}${path}`, { method, agent, headers }, (response) => {
      let text = '';
      response.on('data', (chunk) => (text += chunk));
      response.on('end', () => resolve({ code: response.statusCode!, body: JSON.parse(text) }));
    });
    sent.on('error', reject);
    sent.end(body && JSON.stringify(body));
  });
}

it('stores events that are posted', async () => {
  const event = {
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    metadata: { generateName: 'start-' },
    reason: 'Starting',
  };
  const made = await send('POST', EVENTS, event);
  expect(made.code).toBe(201);
  const [stored] = api.objects('events.k8s.io/v1', 'Event');
  expect(stored).toMatchObject({ reason: 'Starting', metadata: { namespace: 'default' } });
  expect(stored!.metadata.name).toMatch(/^start-/);
});

it('gets, replaces, patches and deletes single objects', async () => {
  api.put({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'a', labels: { x: '1' } } });
  const path = '/api/v1/nodes/a';
  expect((await send('GET', path)).body).toMatchObject({ metadata: { name: 'a' } });
  const patch = { metadata: { labels: { y: '2' } } };
  expect((await send('PATCH', path, patch, 'application/merge-patch+json')).body).toMatchObject({
    metadata: { labels: { x: '1', y: '2' } },
  });
  expect((await send('DELETE', path)).code).toBe(200);
  expect((await send('GET', path)).code).toBe(404);
});

it('refuses what API servers refuse', async () => {
  expect((await send('GET', '/api/v1/nodes?resourceVersionMatch=NotOlderThan')).code).toBe(422);
  expect((await send('GET', '/api/v1/nodes?continue=x.1&resourceVersion=1')).code).toBe(400);
  expect((await send('GET', '/api/v1/nodes?continue=x.1')).code).toBe(410);
  expect((await send('GET', '/api/v1/nodes?resourceVersion=999999')).code).toBe(504);
  expect((await send('GET', '/elsewhere')).code).toBe(404);
  const twice = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'twice' } };
  expect((await send('POST', '/api/v1/nodes', twice)).code).toBe(201);
  expect((await send('POST', '/api/v1/nodes', twice)).code).toBe(409);
  expect((await send('PATCH', '/api/v1/nodes/twice', {})).code).toBe(415);
});

it('forbids what the ClusterRole of the DaemonSet does not allow', async () => {
  api.clusterRole = new ClusterRole();
  expect((await send('GET', '/api/v1/services')).code).toBe(200);
  expect((await send('GET', '/api/v1/secrets')).code).toBe(403);
  expect((await send('DELETE', '/api/v1/nodes/a')).code).toBe(403);
});

it('is restored to a backup, with older versions', async () => {
  api.clusterRole = undefined;
  api.put({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'kept' } });
  const backup = api.store.backup();
  api.remove('v1', 'Node', { name: 'kept' });
  api.put({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'lost' } });
  await api.restore(backup);
  expect((await send('GET', '/api/v1/nodes/kept')).code).toBe(200);
  expect((await send('GET', '/api/v1/nodes/lost')).code).toBe(404);
  expect((await send('GET', '/api/v1/nodes')).body).toMatchObject({
    kind: 'NodeList',
    metadata: { resourceVersion: String(backup.version) },
  });
});

it('sends nothing to a watch from a version that is yet to come, and does not call that watched', async () => {
  const path = '/api/v1/endpoints';
  const watchFrom = async (version: number): Promise<boolean> => {
    const headers = { authorization: 'Bearer stand-in-token' };
    const sent = request(`${api.url}${path}?watch=true&resourceVersion=${version}`, { agent, headers }).end();
    await once(sent, 'response');
    const isWatched = api.isWatched(path);
    sent.on('error', () => undefined).destroy();
    return isWatched;
  };
  expect(await watchFrom(api.store.version + 1)).toBe(false);
  expect(await watchFrom(api.store.version)).toBe(true);
});

describe('of a release', () => {
  const SERVICES = '/api/v1/services?fieldSelector=spec.clusterIP!%3DNone';
  const STREAM = '/api/v1/endpoints?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan';
  const SLICES = '/apis/discovery.k8s.io/v1/endpointslices';
  const CIDRS = '/apis/networking.k8s.io/v1/servicecidrs';

  afterEach(() => (api.version = '1.36'));

  it.each(RELEASES)('%s: its version', async (version) => {
    api.version = version;
    expect((await send('GET', '/version')).body).toMatchObject({ gitVersion: `v${version}.0` });
  });

  it('knows the fields of Services to select by since 1.31', async () => {
    api.version = '1.30';
    expect(await send('GET', SERVICES)).toEqual({
      code: 400,
      body: expect.objectContaining({
        kind: 'Status',
        reason: 'BadRequest',
        code: 400,
        message: '"spec.clusterIP" is not a known field selector: only "metadata.name", "metadata.namespace"',
      }),
    });
    expect((await send('GET', '/api/v1/services?fieldSelector=metadata.name%3Dweb')).code).toBe(200);
    api.version = '1.31';
    expect((await send('GET', SERVICES)).code).toBe(200);
    const { code, body } = await send('GET', '/api/v1/services?fieldSelector=spec.ports%3D1');
    expect([code, body.message]).toEqual([400, 'field label not supported: spec.ports']);
  });

  it.each([
    ['1.20', 'resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden for watch'],
    [
      '1.27',
      'sendInitialEvents: Forbidden: sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled',
    ],
    [
      '1.33',
      'sendInitialEvents: Forbidden: sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled',
    ],
  ])('%s does not stream lists', async (version, problem) => {
    api.version = version;
    expect(await send('GET', STREAM)).toMatchObject({
      code: 422,
      body: {
        reason: 'Invalid',
        message: `ListOptions.meta.k8s.io "" is invalid: ${problem}`,
        details: { group: 'meta.k8s.io', kind: 'ListOptions', causes: [{ reason: 'FieldValueForbidden' }] },
      },
    });
  });

  it('ignores options that it does not know', async () => {
    api.version = '1.24';
    expect((await send('GET', '/api/v1/endpoints?sendInitialEvents=true')).code).toBe(200);
    api.version = '1.27';
    expect((await send('GET', '/api/v1/endpoints?sendInitialEvents=true')).code).toBe(422);
  });

  it('has EndpointSlices since 1.21 and ServiceCIDRs since 1.33', async () => {
    const codes: unknown[] = [];
    for (const version of ['1.20', '1.21', '1.31', '1.33']) {
      api.version = version;
      codes.push([(await send('GET', CIDRS)).code, await statusOf(SLICES)]);
    }
    expect(codes).toEqual([
      [404, 404],
      [404, 200],
      [404, 200],
      [200, 200],
    ]);
  });

  it('leaves out fields that it does not have', async () => {
    const conditions = { ready: true, serving: true, terminating: false };
    const hints = { forZones: [{ name: 'a' }], forNodes: [{ name: 'n' }] };
    api.put({
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: { name: 'slice' },
      endpoints: [{ addresses: ['10.0.0.1'], conditions, hints }],
    });
    const endpoint = async (version: string): Promise<unknown> => {
      api.version = version;
      const { body } = await send('GET', SLICES);
      return (body.items as { endpoints: unknown[] }[])[0]!.endpoints[0];
    };
    expect(await endpoint('1.21')).toEqual({ addresses: ['10.0.0.1'], conditions: { ready: true } });
    expect(await endpoint('1.33')).toMatchObject({ conditions, hints: { forZones: hints.forZones } });
    expect(await endpoint('1.33')).not.toHaveProperty('hints.forNodes');
    expect(await endpoint('1.36')).toMatchObject({ conditions, hints });
  });

  it('may be another one with each request', async () => {
    api.versions = ['1.30', '1.31'];
    const codes = [(await send('GET', SERVICES)).code, (await send('GET', SERVICES)).code];
    expect(codes.sort()).toEqual([200, 400]);
  });
});

/** For answers that are no JSON. */
async function statusOf(path: string): Promise<number> {
  const headers = { authorization: 'Bearer stand-in-token' };
  const [response] = (await once(request(`${api.url}${path}`, { agent, headers }).end(), 'response')) as [
    IncomingMessage,
  ];
  response.resume();
  return response.statusCode!;
}
