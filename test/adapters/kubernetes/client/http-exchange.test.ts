import { once } from 'node:events';
import { request } from 'node:http';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import {
  HttpExchange,
  defaultApiTimeouts,
} from '../../../../src/adapters/kubernetes/client/http-exchange.js';
import { FakeClock } from '../../../../src/testing/fakes/fake-clock.js';

const NEVER = new AbortController().signal;
const RESPONSE = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n';
const HINTS = 'HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n';

let server: Server;
let client: Socket | undefined;
afterEach(() => {
  client?.destroy();
  server.close();
});

/** What becomes of a request to a server that talks like this. */
async function answered(talk: (socket: Socket) => void): Promise<number | undefined> {
  server = createServer((socket) => {
    client = socket.on('error', () => undefined);
    socket.once('data', () => talk(socket));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const exchange = new HttpExchange('GET /', defaultApiTimeouts, new FakeClock());
  const sent = request({ host: '127.0.0.1', port, agent: false });
  const response = await exchange.send(sent, undefined, NEVER);
  response.resume();
  return response.statusCode;
}

it.each([CONTINUE, HINTS])('takes a few informational answers before the response: %j', async (inform) => {
  expect(await answered((socket) => socket.end(inform.repeat(5) + RESPONSE))).toBe(200);
});

it.each([CONTINUE, HINTS])('gives up a server that sends them without end: %j', async (inform) => {
  let isOpen = true;
  const talk = (socket: Socket): void => {
    socket.once('close', () => (isOpen = false));
    const more = (): void => {
      while (isOpen && socket.write(inform.repeat(1_000)));
    };
    socket.on('drain', more);
    more();
  };
  await expect(answered(talk)).rejects.toThrow('GET /: more than 5 informational answers (1xx)');
  while (isOpen) await new Promise((resolve) => setImmediate(resolve));
});
