import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { createProxy } from 'kube-proxy-ts';
import { FakeClock, MemoryLogger, ScriptedSource } from 'kube-proxy-ts/fakes';
import { RoutesFileBackend } from './routes-file-backend.js';
import { RoutesFile } from './routes-file.js';

const service = {
  metadata: { namespace: 'shop', name: 'cart' },
  spec: { clusterIP: '10.96.0.80', ports: [{ name: 'http', port: 80, protocol: 'TCP' }] },
};
const slice = (...addresses: readonly string[]) => ({
  metadata: { namespace: 'shop', name: 'cart-1', labels: { 'kubernetes.io/service-name': 'cart' } },
  addressType: 'IPv4',
  ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
  endpoints: addresses.map((address) => ({ addresses: [address], conditions: { ready: true } })),
});

test('the file follows the cluster', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'routes-'));
  const file = join(folder, 'routes.txt');
  const source = new ScriptedSource();
  const clock = new FakeClock();
  source.apply('Service', service).apply('EndpointSlice', slice('10.244.1.9')).synced();
  const proxy = await createProxy({
    backends: [new RoutesFileBackend('IPv4', new RoutesFile(file))],
    source,
    clock,
    logger: new MemoryLogger(),
  });
  await proxy.start();
  await proxy.programmed();
  assert.equal(await readFile(file, 'utf8'), '10.96.0.80:80/TCP 10.244.1.9:8080\n');

  source.apply('EndpointSlice', slice('10.244.1.9', '10.244.2.3'));
  while (!proxy.inSync) await clock.advanceAsync(10);
  assert.equal(await readFile(file, 'utf8'), '10.96.0.80:80/TCP 10.244.1.9:8080,10.244.2.3:8080\n');

  await proxy.stop();
  assert.equal(clock.pending, 0);
  await rm(folder, { recursive: true });
});
