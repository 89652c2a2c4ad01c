import { readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ApiClient } from '../../../../src/adapters/kubernetes/client/api-client.js';
import { Credentials } from '../../../../src/adapters/kubernetes/connection/credentials.js';
import { PodExec } from '../../../../src/diagnostics/adapters/kubernetes/pod-exec.js';
import { ConnectProxy } from '../../../support/api-server/connect-proxy.js';
import { SocksProxy } from '../../../support/api-server/socks-proxy.js';
import { StandInApiServer } from '../../../support/api-server/api-server.js';
import { writeKubeconfig } from '../../../support/api-server/kubeconfig.js';
import { CountingClock, service, setUp, until } from '../harness.js';

/** An API server behind an HTTP proxy, under a name that only the proxy knows. */

const saved = { ...process.env };
let api: StandInApiServer;
let proxy: ConnectProxy;

beforeAll(async () => {
  api = await StandInApiServer.start();
});

beforeEach(async () => {
  proxy = await ConnectProxy.start(Number(new URL(api.url).port));
});

afterEach(async () => {
  process.env = { ...saved };
  await proxy.close();
});

afterAll(() => api.close());

async function kubeconfigOf(more: object = {}): Promise<string> {
  const file = await writeKubeconfig(api);
  const config = JSON.parse(await readFile(file, 'utf8')) as { clusters: { cluster: object }[] };
  Object.assign(config.clusters[0]!.cluster, {
    server: 'https://api.test:6443',
    'tls-server-name': 'localhost',
    ...more,
  });
  await writeFile(file, JSON.stringify(config));
  return file;
}

function clientOf(kubeconfig: string, connect = 20_000): ApiClient {
  return new ApiClient({ kubeconfig }, new CountingClock(), { timeouts: { connect } });
}

it('is reached by the proxy that the kubeconfig names, with its password', async () => {
  const client = clientOf(await kubeconfigOf({ 'proxy-url': `http://me:secret@${proxy.address}` }));
  await expect(client.json({ path: '/api/v1/services' })).resolves.toMatchObject({ kind: 'ServiceList' });
  expect(proxy.asked).toEqual(['api.test:6443']);
  expect(proxy.authorization).toBe(`Basic ${Buffer.from('me:secret').toString('base64')}`);
});

it.each(['socks5', 'socks5h'])('is reached by a proxy of %s', async (scheme) => {
  const socks = await SocksProxy.start(Number(new URL(api.url).port));
  try {
    const client = clientOf(
      await kubeconfigOf({ server: 'https://localhost:6443', 'proxy-url': `${scheme}://${socks.address}` }),
    );
    await expect(client.json({ path: '/api/v1/services' })).resolves.toMatchObject({ kind: 'ServiceList' });
    expect(socks.asked).toEqual([
      scheme === 'socks5' ? expect.stringMatching(/^(127\.0\.0\.1|::1):6443$/) : 'localhost:6443',
    ]);
  } finally {
    await socks.close();
  }
});

it('gets the certificates that are there when they are read, by a proxy, too', async () => {
  const kubeconfig = await kubeconfigOf({ 'proxy-url': `http://${proxy.address}` });
  const credentials = new Credentials({ kubeconfig }, new CountingClock(), 0, 1);
  const agent = async () => (await credentials.current()).options.agent;
  const first = await agent();
  expect(await agent()).toBe(first);
  const { authority } = api.certificates;
  await writeFile(join(dirname(kubeconfig), 'ca.crt'), `${authority}\n${authority}`);
  expect(await agent()).not.toBe(first);
  credentials.close();
});

it('is reached by the proxy of the environment', async () => {
  process.env.HTTPS_PROXY = `http://${proxy.address}`;
  const { source, sink } = setUp({ kubeconfig: await kubeconfigOf() });
  await source.start(sink, new AbortController().signal);
  await until(() => sink.kindsSynced.length === 4 && api.openWatches === 4);
  api.put(service('web'));
  await until(() => sink.objects.has('Service default/web'));
  await source.stop();
  expect(proxy.asked).toContain('api.test:6443');
});

it('does not use the proxy if NO_PROXY excludes the server', async () => {
  process.env.HTTPS_PROXY = `http://${proxy.address}`;
  process.env.NO_PROXY = '.test';
  await expect(clientOf(await kubeconfigOf()).json({ path: '/api/v1/services' })).rejects.toThrow(
    /api\.test/,
  );
  expect(proxy.asked).toEqual([]);
});

it('is given up when the proxy does not answer, or the request is not wanted any more', async () => {
  proxy.silent = true;
  const client = clientOf(await kubeconfigOf({ 'proxy-url': `http://${proxy.address}` }), 200);
  await expect(client.json({ path: '/api/v1/services' })).rejects.toThrow(
    `through the proxy ${proxy.address}: no connection within 200 ms`,
  );
  const abort = new AbortController();
  const request = client.json({ path: '/api/v1/services', signal: abort.signal });
  setTimeout(() => abort.abort(), 50);
  await expect(request).rejects.toMatchObject({ name: 'AbortError' });
});

it('runs commands in containers through the proxy', async () => {
  api.containers.run = () => ({ exitCode: 0, stdout: 'done' });
  const client = clientOf(await kubeconfigOf({ 'proxy-url': `http://${proxy.address}` }));
  const exec = new PodExec(client, new CountingClock());
  const place = { namespace: 'kube-system', pod: 'kube-proxy-1', container: 'kube-proxy' };
  await expect(exec.run(place, ['true'], new AbortController().signal)).resolves.toMatchObject({
    stdout: 'done',
  });
  expect(proxy.asked).toEqual(['api.test:6443']);
});
