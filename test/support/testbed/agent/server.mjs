import { createSocket } from 'node:dgram';
import { createServer } from 'node:http';

/**
 * Answers its name to every HTTP request and every datagram, on one port of an address, or of all, in both families, until the
 * agent ends.
 */
export async function serve({ name, port, backlog, address = '::' }) {
  const http = createServer({ keepAliveTimeout: 600_000 }, (_request, response) => response.end(name));
  await new Promise((resolve, reject) => {
    http.once('error', reject);
    http.listen(port, address, backlog, resolve);
  });
  const udp = createSocket(address.includes(':') ? 'udp6' : 'udp4');
  udp.on('message', (_message, from) => udp.send(name, from.port, from.address));
  await new Promise((resolve, reject) => {
    udp.once('error', reject);
    udp.bind(port, address, resolve);
  });
  return {};
}
