import { connect, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Serves a TCP port on addresses of this network namespace, and opens connections to a Service at a steady rate. The endpoints end each
 * connection after a time, the first two after ten times as long. Prints the open connections of each endpoint,
 * averaged over the second half, as JSON.
 */
const [service, addressList, port, perSecond, seconds] = process.argv.slice(2) as [
  string,
  string,
  string,
  string,
  string,
];
const FAST_MS = 300;
const SLOW_MS = 3_000;
const SLOW_ENDPOINTS = 2;
const SAMPLE_MS = 100;

const addresses = addressList.split(',');
const open = addresses.map(() => 0);
for (const [index, address] of addresses.entries()) {
  const server = createServer((socket) => {
    open[index]!++;
    setTimeout(() => socket.end(), index < SLOW_ENDPOINTS ? SLOW_MS : FAST_MS);
    socket.on('error', () => {});
    socket.once('close', () => open[index]!--);
    socket.resume();
  });
  await new Promise<void>((resolve) => server.listen(Number(port), address, 1024, resolve));
}

const sums = addresses.map(() => 0);
let samples = 0;
let made = 0;
let failed = 0;
const begun = performance.now();
for (;;) {
  const passed = (performance.now() - begun) / 1_000;
  if (passed >= Number(seconds)) break;
  for (const due = passed * Number(perSecond); made < due; made++) {
    const socket = connect({ host: service, port: 80 });
    socket.on('error', () => failed++);
    socket.resume();
  }
  if (passed >= Number(seconds) / 2 && samples < ((passed - Number(seconds) / 2) * 1_000) / SAMPLE_MS) {
    samples++;
    for (const [index, count] of open.entries()) sums[index]! += count;
  }
  await sleep(10);
}
console.log(JSON.stringify({ open: sums.map((sum) => sum / samples), made, failed }));
process.exit(0);
