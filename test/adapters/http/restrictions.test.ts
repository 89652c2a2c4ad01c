import {
  respond,
  TEXT_TYPE,
  type Handler,
  type Routes,
  overLoopback,
  readOnly,
} from '../../../src/adapters/http/router.js';
import { Served } from '../../support/http/served.js';

const answer: Handler = (_, response) => respond(response, 200, TEXT_TYPE, 'ok');
let served: Served;
afterEach(() => served.stop());

it('lets routes be read, and nothing else', async () => {
  served = await Served.start(readOnly({ '/x': answer }));
  for (const method of ['GET', 'HEAD']) expect((await served.get('/x', { method })).status).toBe(200);
  for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS']) {
    const response = await served.get('/x', { method });
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  }
});

/** The routes as a client at this address finds them. */
function from(remoteAddress: string, routes: Routes): Routes {
  const handler: Handler = (query, response) => {
    Object.defineProperty(query.request.socket, 'remoteAddress', { value: remoteAddress });
    return routes['/x']!(query, response);
  };
  return { '/x': handler };
}

it.each([
  ['127.0.0.1', 200],
  ['::1', 200],
  ['::ffff:127.0.0.1', 200],
  ['192.0.2.1', 403],
  ['::ffff:192.0.2.1', 403],
  ['fe80::1%eth0', 403],
])('answers %s with %i where only loopback may ask', async (address, status) => {
  served = await Served.start(from(address, overLoopback({ '/x': answer }, 'knock')));
  const response = await served.get('/x');
  expect([response.status, await response.text()]).toEqual([
    status,
    status === 200 ? 'ok' : '/x answers only over loopback; knock\n',
  ]);
});
