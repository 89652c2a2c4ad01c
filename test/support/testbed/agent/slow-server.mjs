import { connect, createServer } from 'node:net';
import { clearTimeout, setTimeout } from 'node:timers';

/** The open connections, and how many there were. */
const open = new Set();
let total = 0;

/** Accepts connections, and ends each after this time in milliseconds. */
export async function serveSlowly({ port, ms }) {
  const server = createServer((socket) => {
    total++;
    open.add(socket);
    const timer = setTimeout(() => socket.end(), ms);
    socket.on('error', () => {});
    socket.once('close', () => {
      clearTimeout(timer);
      open.delete(socket);
    });
    socket.resume();
  });
  await new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '::', 1024, resolve);
  });
  return {};
}

/** How many connections are open, and how many have been accepted. */
export async function accepted() {
  return { open: open.size, accepted: total };
}

/** Ends all that are open. */
export async function endAccepted() {
  for (const socket of open) socket.end();
  return {};
}

/** Opens n connections, which stay until the other end ends them. */
export async function stay({ dst, port, n }) {
  const one = () =>
    new Promise((resolve, reject) => {
      const socket = connect({ host: dst, port }, resolve);
      socket.once('error', reject);
      socket.resume();
    });
  await Promise.all(Array.from({ length: n }, one));
  return {};
}
