import { request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { byOwnName, respond, TEXT_TYPE, route } from '../../../src/adapters/http/router.js';
import { closeServer, openServer } from '../../../src/adapters/http/http-listener.js';
import { MemoryLogger } from '../../../src/testing/fakes/memory-logger.js';

/** What a server answers whose names are `Node1` and those of every server, when it is called by this one. */
async function answerTo(host: string): Promise<readonly [status: number, body: string]> {
  const routes = byOwnName({ '/': (_, response) => respond(response, 200, TEXT_TYPE, 'secret') }, ['Node1']);
  const server = await openServer(
    route(routes, new MemoryLogger()),
    { host: '127.0.0.1', port: 0 },
    () => undefined,
  );
  try {
    const { port } = server.address() as AddressInfo;
    return await new Promise((resolve, reject) => {
      const asked = request({ host: '127.0.0.1', port, headers: { Host: host } }, (response) => {
        let body = '';
        response.on('data', (chunk: Buffer) => (body += chunk.toString()));
        response.on('end', () => resolve([response.statusCode!, body]));
      });
      asked.on('error', reject).end();
    });
  } finally {
    await closeServer(server);
  }
}

describe('routes by the name of the server', () => {
  it.each([
    '127.0.0.1:10249',
    '127.0.0.1',
    '[::1]:10249',
    '[2001:db8::7]',
    'localhost:8080',
    'LOCALHOST',
    'node1',
    'NODE1:10249',
  ])('answer %s', async (host) => {
    expect(await answerTo(host)).toEqual([200, 'secret']);
  });

  it.each([
    'evil.example',
    'evil.example:10249',
    'localhost.evil.example',
    'node1.evil.example',
    '127.0.0.1.evil.example',
    'evil.example:127.0.0.1',
    '[evil.example]:10249',
    '127.0.0.1@evil.example',
    '%00',
  ])('do not answer %j, which may be a site that resolves to this server', async (host) => {
    const [status, body] = await answerTo(host);
    expect(status).toBe(421);
    expect(body).toContain('IP address, localhost or node1');
  });
});
