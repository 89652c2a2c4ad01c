import { once } from 'node:events';
import { connect, type Server, type Socket } from 'node:net';
import { LocalhostRelay } from '../../src/adapters/endpoint-connections.js';
import { ProxyPortError } from '../../src/adapters/userspace/proxy-socket.js';
import type { OpenNodePort, RelayTarget } from '../../src/application/ports/node/endpoint-connections.js';
import { FakeClock } from '../../src/testing/fakes/fake-clock.js';
import { MemoryLogger } from '../../src/testing/fakes/memory-logger.js';
import { endpoint } from '../support/samples.js';
import { addressOf, askTcp, freePort, named, tcpEndpoint } from './userspace/endpoints.js';

let relay: LocalhostRelay;
let port: number;
let open: OpenNodePort[];
let servers: Server[];
beforeEach(async () => {
  // No endpoint is late, however slow the machine is.
  relay = new LocalhostRelay(new FakeClock(), new MemoryLogger());
  port = await freePort();
  open = [];
  servers = [];
});
afterEach(async () => {
  await Promise.all(open.map((one) => one.close()));
  await relay.close();
  for (const server of servers) server.close();
});

const to = (to: readonly Server[], affinitySeconds = 0): RelayTarget => ({
  endpoints: to.map((server) => {
    const { address, port } = addressOf(server);
    return endpoint(address, { port });
  }),
  affinitySeconds,
});

async function start(...made: Promise<Server>[]): Promise<readonly Server[]> {
  const started = await Promise.all(made);
  servers.push(...started);
  return started;
}

async function listen(target: RelayTarget): Promise<OpenNodePort> {
  const one = await relay.listen('IPv4', port, target);
  open.push(one);
  return one;
}

async function names(count: number): Promise<ReadonlySet<string>> {
  const seen = new Set<string>();
  for (let asked = 0; asked < count; asked++) seen.add(await askTcp(port));
  return seen;
}

const echoing = (): Promise<Server> => tcpEndpoint((client) => client.pipe(client));

async function echoed(client: Socket, text: string): Promise<string> {
  const heard = once(client, 'data');
  client.write(text);
  return String((await heard)[0]);
}

it('leads connections to the endpoints, and others from the next change on, without refusing one', async () => {
  const [a, b, c] = await start(named('a'), named('b'), named('c'));
  const node = await listen(to([a!, b!]));
  expect(await names(4)).toEqual(new Set(['a', 'b']));
  node.serve(to([c!]));
  expect(await names(2)).toEqual(new Set(['c']));
});

it('keeps a client where it is with affinity, and moves it when that endpoint is gone', async () => {
  const [a, b] = await start(named('a'), named('b'));
  const node = await listen(to([a!, b!], 60));
  const [first] = await names(1);
  expect(await names(4)).toEqual(new Set([first]));
  const other = first === 'a' ? b! : a!;
  node.serve(to([other], 60));
  expect(await names(4)).toEqual(new Set([first === 'a' ? 'b' : 'a']));
});

it('frees the port when it is closed, and leaves connections open until the relay ends', async () => {
  const [echo] = await start(echoing());
  const node = await listen(to([echo!]));
  const client = connect(port, '127.0.0.1');
  expect(await echoed(client, '1')).toBe('1');
  await node.close();
  open = [];
  await expect(askTcp(port)).rejects.toThrow('ECONNREFUSED');
  expect(await echoed(client, '2')).toBe('2');
  const [again] = await start(named('again'));
  await listen(to([again!]));
  expect(await askTcp(port)).toBe('again');
  const ended = once(client, 'end');
  await relay.close();
  await ended;
});

it('takes the connections first that the kernel has made already', async () => {
  const [echo] = await start(echoing());
  const node = await listen(to([echo!]));
  const clients = Array.from({ length: 20 }, () => connect(port, '127.0.0.1'));
  open = [];
  // The kernel connects them at once; nobody has taken one before the next turn of the event loop.
  await new Promise<void>((resolve) => process.nextTick(resolve));
  await node.close();
  expect(await Promise.all(clients.map((client) => echoed(client, 'x')))).toEqual(clients.map(() => 'x'));
  for (const client of clients) client.destroy();
});

it('says whose port is taken', async () => {
  const [a] = await start(named('a'));
  await listen(to([a!]));
  await expect(relay.listen('IPv4', port, to([a!]))).rejects.toThrow(ProxyPortError);
  const problem = `cannot listen on 127.0.0.1:${port}/TCP: another program has the port`;
  await expect(relay.listen('IPv4', port, to([a!]))).rejects.toThrow(problem);
});
