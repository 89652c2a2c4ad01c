import { connect, createServer } from 'node:net';

/** Leads connections to an address of this host on to a Unix socket, which may be that of a program in another namespace. */
export function relay({ address, port, socket }) {
  const server = createServer((client) => {
    const upstream = connect(socket);
    client.pipe(upstream).pipe(client);
    for (const one of [client, upstream])
      one.on('error', () => [client, upstream].forEach((s) => s.destroy()));
  });
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, address, () => resolve({}));
  });
}
