// Asks servers whether they are well, and writes EndpointSlices of those that are, for the proxy to follow:
//   node check-health.mjs NAMESPACE/SERVICE PORTNAME FILE URL...
// A server answers GET on its URL with a status below 400 within a second. Two answers in a row make it ready, two failures end that.
import { renameSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

const INTERVAL = 1_000;
const IN_A_ROW = 2;

const [service = '', portName, file, ...urls] = process.argv.slice(2);
const [namespace, name] = service.split('/');
if (!name || !file?.endsWith('.json') || urls.length === 0) {
  console.error('usage: node check-health.mjs NAMESPACE/SERVICE PORTNAME FILE.json URL...');
  process.exit(2);
}
const servers = urls.map((url) => ({ url: new URL(url), ready: false, contrary: 0 }));

for (;;) {
  const changed = await Promise.all(servers.map(check));
  if (changed.includes(true)) write();
  await sleep(INTERVAL);
}

/** Whether the server's state has changed. */
async function check(server) {
  const isWell = await fetch(server.url, { signal: AbortSignal.timeout(INTERVAL) })
    .then(async (response) => {
      await response.body?.cancel();
      return response.status < 400;
    })
    .catch(() => false);
  server.contrary = isWell === server.ready ? 0 : server.contrary + 1;
  if (server.contrary < IN_A_ROW) return false;
  server.ready = isWell;
  server.contrary = 0;
  console.log(`${server.url.host} is ${isWell ? 'ready' : 'not ready'}`);
  return true;
}

/** One slice for each port; the file is replaced as a whole. */
function write() {
  const ports = [...new Set(servers.map(({ url }) => Number(url.port || 80)))];
  const slices = ports.map((port) => ({
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { namespace, name: `${name}-${port}`, labels: { 'kubernetes.io/service-name': name } },
    addressType: 'IPv4',
    ports: [{ name: portName, protocol: 'TCP', port }],
    endpoints: servers
      .filter(({ url }) => Number(url.port || 80) === port)
      .map(({ url, ready }) => ({ addresses: [url.hostname], conditions: { ready } })),
  }));
  writeFileSync(`${file}.new`, JSON.stringify({ apiVersion: 'v1', kind: 'List', items: slices }));
  renameSync(`${file}.new`, file);
}
