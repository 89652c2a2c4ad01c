import { createServer, type AddressInfo, type Server } from 'node:net';
import { TcpEndpointConnector } from '../../src/adapters/endpoint-connections.js';
import { FakeClock } from '../../src/testing/fakes/fake-clock.js';

const NEVER = new AbortController().signal;

const clock = new FakeClock();
const connector = new TcpEndpointConnector(clock);
let server: Server;
let port: number;
beforeEach(async () => {
  server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ({ port } = server.address() as AddressInfo);
});
afterEach(() => {
  expect(clock.pending).toBe(0);
  server.close();
});

it('takes a connection for an answer, and closes it at once', async () => {
  const closed = new Promise((resolve) =>
    server.once('connection', (client) => client.once('close', resolve).resume()),
  );
  expect(await connector.attempt({ address: '127.0.0.1', port }, 1_000, NEVER)).toBe('answered');
  await closed;
});

it('takes a refusal for an answer', async () => {
  await new Promise((resolve) => server.close(resolve));
  expect(await connector.attempt({ address: '127.0.0.1', port }, 1_000, NEVER)).toBe('answered');
});

it('gives up in time', async () => {
  const attempt = connector.attempt({ address: '127.0.0.1', port }, 1_000, NEVER);
  clock.advance(1_000);
  expect(await attempt).toBe('unanswered');
});

it('draws no conclusion from what keeps this machine from trying', async () => {
  // No name has 64 characters without a dot, so nothing is sent.
  expect(await connector.attempt({ address: 'a'.repeat(64), port }, 1_000, NEVER)).toBe('impossible');
});

it('ends an attempt when it is aborted, and begins none afterwards', async () => {
  const stopping = new AbortController();
  const begin = () => connector.attempt({ address: '127.0.0.1', port }, 1_000, stopping.signal);
  const running = begin();
  stopping.abort();
  expect(await running).toBe('impossible');
  expect(await begin()).toBe('impossible');
});
