import { createProxy } from 'kube-proxy-ts';
import { RoutesFileBackend } from './routes-file-backend.js';
import { RoutesFile } from './routes-file.js';

const [manifests, file] = process.argv.slice(2);
if (manifests === undefined || file === undefined) {
  console.error('usage: npm start -- FOLDER_OF_MANIFESTS ROUTES_FILE');
  process.exit(2);
}

const ended = new Promise((resolve) => {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, resolve);
});
const proxy = await createProxy({
  backends: [new RoutesFileBackend('IPv4', new RoutesFile(file))],
  flags: [`--manifests=${manifests}`, '--hostname-override=demo-node'],
});
await proxy.start();
await proxy.programmed();
console.log(`routes are in ${file}; they follow ${manifests} until this program is ended`);

// The proxy's timers keep no process alive; this one does.
const alive = setInterval(() => undefined, 2 ** 30);
await ended;
clearInterval(alive);
await proxy.stop();
