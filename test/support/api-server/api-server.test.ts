import { once } from 'node:events';
import { Agent, request } from 'node:https';
import { StandInApiServer } from './api-server.js';
import { ClusterRole } from './cluster-role.js';

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
  expect((await send('GET', '/api/v1/nodes?resourceVersionMatch=NotOlderThan')).code).toBe(400);
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
