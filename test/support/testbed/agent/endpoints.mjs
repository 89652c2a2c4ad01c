import { createServer } from 'node:net';

/** Answers connections to these ports at every address of the host: the address and the port they reached, and their client's address. */
export async function answerEverywhere({ ports }) {
  await Promise.all(ports.map(listen));
  return {};
}

function listen(port) {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    const [endpoint, client] = [socket.localAddress, socket.remoteAddress].map(plain);
    socket.end(`${JSON.stringify({ address: endpoint, port, client })}\n`);
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
