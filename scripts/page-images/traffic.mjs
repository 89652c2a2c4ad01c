/** Pods that answer at these addresses, and clients that call one: `node traffic.mjs CALLED ADDRESS…`, until it is ended. */
import { createServer, get } from 'node:http';
import process from 'node:process';
import { setInterval } from 'node:timers';

const [called, ...addresses] = process.argv.slice(2);
for (const address of addresses)
  createServer((_, response) => setTimeout(() => response.end('ok'), 200 + Math.random() * 2_000)).listen(
    8080,
    address,
  );
setInterval(() => {
  get(`http://${called}/`, { agent: false }, (response) => response.resume()).on('error', () => {});
}, 90);
