import { Buffer } from 'node:buffer';
import { connect as connectTo, createServer } from 'node:net';
import { clearTimeout, setTimeout } from 'node:timers';
import { setTimeout as sleep } from 'node:timers/promises';

const CHUNK = Buffer.alloc(64 * 1024, 'x');

/** Serves transfers as `transfer` asks for them, in a line of JSON, and says again whatever a client says that asks for none. */
export async function serveTransfers({ port }) {
  const server = createServer({ allowHalfOpen: true }, (client) => {
    client.on('error', () => {});
    client.once('data', async (first) => {
      if (first[0] !== '{'.charCodeAt(0)) {
        client.write(first);
        return client.pipe(client);
      }
      const { what, bytes, everyMs, endpointPausesMs } = JSON.parse(first.toString().split('\n')[0]);
      if (what === 'download') return send(client, bytes, everyMs);
      client.pause();
      await sleep(endpointPausesMs);
      client.end(String((await count(client)) + first.length));
    });
  });
  await new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '::', resolve);
  });
  return {};
}

/**
 * Moves so many bytes, a chunk every so many milliseconds. Answers how many have arrived.
 * @param clientPausesMs so long it does not read; `endpointPausesMs` the same of the other end
 */
export async function transfer({
  dst,
  port,
  what,
  bytes,
  everyMs = 0,
  clientPausesMs = 0,
  endpointPausesMs = 0,
}) {
  const socket = await connect(dst, port);
  const request = `${JSON.stringify({ what, bytes, everyMs, endpointPausesMs })}\n`;
  socket.pause();
  socket.write(request);
  if (what === 'download') {
    await sleep(clientPausesMs);
    return { bytes: await count(socket) };
  }
  // The server must see the request by itself.
  await sleep(200);
  const [answer] = await Promise.all([text(socket), send(socket, bytes, everyMs)]);
  return { bytes: Number(answer) - request.length };
}

/** Opens a connection; answers how long that took. */
export async function connectOnce({ dst, port, timeoutMs }) {
  const start = performance.now();
  const socket = await connect(dst, port, timeoutMs);
  socket.destroy();
  return { ms: performance.now() - start };
}

/** Opens n connections at once; answers how many stood within that time, and how long the last one of them took. */
export async function connectMany({ n, ...to }) {
  const opened = await Promise.allSettled(Array.from({ length: n }, () => connectOnce(to)));
  const times = opened.flatMap(({ value }) => (value ? [value.ms] : []));
  return { connected: times.length, ms: Math.max(...times) };
}

const open = new Map();
let lastHandle = 0;

/** Opens a connection that stays, and sees that it works. */
export async function openTcp({ dst, port }) {
  const socket = await connect(dst, port);
  const heard = new Promise((resolve) => socket.once('data', resolve));
  socket.write('hello');
  await heard;
  socket.removeAllListeners('data');
  open.set(++lastHandle, socket);
  return { handle: lastHandle };
}

/** Says something on an open connection; answers what ended it, and after how long. */
export function sayUntilEnd({ handle, timeoutMs }) {
  const socket = open.get(handle);
  open.delete(handle);
  const start = performance.now();
  return new Promise((resolve) => {
    const end = (ending) => {
      clearTimeout(late);
      socket.destroy();
      resolve({ ending, ms: performance.now() - start });
    };
    const late = setTimeout(() => end('nothing'), timeoutMs);
    socket.on('data', () => end('an answer'));
    socket.on('error', ({ code }) => end(code));
    socket.write('are you there?');
  });
}

function connect(host, port, timeoutMs = 5_000) {
  return new Promise((resolve, reject) => {
    const socket = connectTo({ host, port }, () => {
      clearTimeout(late);
      resolve(socket);
    });
    socket.once('error', reject);
    const late = setTimeout(
      () => socket.destroy(new Error(`no connection within ${timeoutMs} ms`)),
      timeoutMs,
    );
  });
}

async function send(socket, bytes, everyMs) {
  for (let left = bytes; left > 0; left -= CHUNK.length) {
    const isTaken = socket.write(CHUNK.subarray(0, Math.min(left, CHUNK.length)));
    if (everyMs > 0) await sleep(everyMs);
    else if (!isTaken) await new Promise((resolve) => socket.once('drain', resolve));
  }
  socket.end();
}

async function count(socket) {
  let bytes = 0;
  for await (const chunk of socket.iterator({ destroyOnReturn: false })) bytes += chunk.length;
  return bytes;
}

async function text(socket) {
  let heard = '';
  for await (const chunk of socket.iterator({ destroyOnReturn: false })) heard += chunk;
  return heard;
}
