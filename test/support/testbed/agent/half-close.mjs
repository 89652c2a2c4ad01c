import { connect, createServer } from 'node:net';

/** Listens until a client has ended its direction, and only then answers what it heard, in capitals. */
export async function serveAfterEnd({ port }) {
  const server = createServer({ allowHalfOpen: true }, async (client) => {
    client.on('error', () => {});
    let heard = '';
    for await (const chunk of client.iterator({ destroyOnReturn: false })) heard += chunk;
    client.end(heard.toUpperCase());
  });
  await new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '::', resolve);
  });
  return {};
}

/** Says a text, ends its direction, and answers what it hears until the other side ends too. */
export function sayAndListen({ dst, port, text, timeoutMs = 2000 }) {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: dst, port, allowHalfOpen: true });
    socket.setTimeout(timeoutMs, () => socket.destroy(new Error(`no end within ${timeoutMs} ms`)));
    let body = '';
    socket.setEncoding('utf8');
    socket.on('data', (chunk) => (body += chunk));
    socket.on('error', reject);
    socket.on('end', () => resolve({ body }));
    socket.end(text);
  });
}
