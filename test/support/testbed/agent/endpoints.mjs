import { connect, createServer } from 'node:net';

/**
 * Answers connections to these ports at every address of the host with the address and the port that they reached, and their client's
 * address; then repeats what they send.
 */
export async function answerEverywhere({ ports }) {
  await Promise.all(ports.map(listen));
  return {};
}

function listen(port) {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    const [address, client] = [socket.localAddress, socket.remoteAddress].map(plain);
    socket.write(JSON.stringify({ address, port, client }));
    socket.pipe(socket);
  });
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '::', 4096, resolve);
  });
}

/** A socket of both families names IPv4 addresses as IPv6 ones. */
function plain(address = '') {
  return address.replace(/^::ffff:/, '');
}

const held = new Map();
let lastHandle = 0;

/** Opens a connection that stays; answers what its server says first. */
export async function hold({ src, dst, port, timeoutMs }) {
  const socket = connect({ host: dst, port, localAddress: src });
  const handle = ++lastHandle;
  held.set(handle, socket);
  return { handle, answer: await nextData(socket, timeoutMs) };
}

/** Sends a text over a connection that was held, and answers what comes back. */
export async function sayHeld({ handle, text, timeoutMs }) {
  const socket = held.get(handle);
  const answer = nextData(socket, timeoutMs);
  socket.write(text);
  return { answer: await answer };
}

export function release({ handle }) {
  held.get(handle)?.destroy();
  held.delete(handle);
  return Promise.resolve({});
}

function nextData(socket, timeoutMs) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => done(reject, new Error(`no answer for ${timeoutMs} ms`)), timeoutMs);
    const onData = (data) => done(resolve, String(data));
    const onError = (error) => done(reject, error);
    const onClose = () => done(reject, new Error('closed'));
    const done = (settle, value) => {
      clearTimeout(timer);
      socket.off('data', onData).off('close', onClose);
      settle(value);
    };
    // It stays, so that a later reset does not end the agent.
    socket.on('error', onError);
    socket.on('data', onData).on('close', onClose);
    if (socket.destroyed) onClose();
  });
}
