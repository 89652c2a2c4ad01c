import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { mkdtemp, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { ApiClient } from '../../../../src/adapters/kubernetes/client/api-client.js';
import { ApiConnectionError, ApiSilenceError } from '../../../../src/adapters/kubernetes/client/api-error.js';
import { CountingClock } from '../harness.js';

const BODY = Buffer.from('abcdefgh'.repeat(100_000));

let server: Server;
let clock: CountingClock;
let client: ApiClient;
let answer: (request: IncomingMessage, response: ServerResponse) => void;

beforeEach(async () => {
  server = createServer((request, response) => answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const kubeconfig = join(await mkdtemp(join(tmpdir(), 'compression-')), 'kubeconfig');
  const { port } = server.address() as AddressInfo;
  await writeFile(
    kubeconfig,
    JSON.stringify({
      clusters: [{ name: 'c', cluster: { server: `http://127.0.0.1:${port}` } }],
      contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
      users: [{ name: 'u', user: {} }],
      'current-context': 'c',
    }),
  );
  clock = new CountingClock();
  client = new ApiClient({ kubeconfig }, clock);
});

afterEach(async () => {
  client.close();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  expect(clock.open.size).toBe(0);
});

async function read(silence = 5_000): Promise<Buffer> {
  const { body } = await client.open({ path: '/', large: true });
  const pieces: Buffer[] = [];
  await body.read(silence, (piece) => void pieces.push(piece));
  return Buffer.concat(pieces);
}

it('is asked for, and undone while the response arrives', async () => {
  answer = ({ headers }, response) => {
    expect(headers['accept-encoding']).toBe('gzip');
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(BODY));
  };
  const { body } = await client.open({ path: '/', large: true });
  const sizes: number[] = [];
  await body.read(5_000, (piece) => void sizes.push(piece.length));
  expect(sizes.reduce((sum, size) => sum + size)).toBe(BODY.length);
  expect(Math.max(...sizes)).toBeLessThanOrEqual(64 * 1024);
});

it('may be left out by the server', async () => {
  answer = (_, response) => void response.end(BODY);
  expect(BODY.equals(await read())).toBe(true);
});

it.each([
  [
    'is corrupt',
    (bytes: Buffer) => Buffer.concat([bytes.subarray(0, 40), Buffer.alloc(40), bytes.subarray(80)]),
  ],
  ['is cut off', (bytes: Buffer) => bytes.subarray(0, -20)],
  ['is none', () => Buffer.from('{"kind":"ServiceList"}')],
])('that %s is an error of the connection', async (_, damage) => {
  answer = (_request, response) =>
    void response.writeHead(200, { 'content-encoding': 'gzip' }).end(damage(gzipSync(BODY)));
  await expect(read()).rejects.toThrow(ApiConnectionError);
});

it('does not hide a connection that breaks', async () => {
  answer = (_, response) => {
    response.writeHead(200, { 'content-encoding': 'gzip' }).write(gzipSync(BODY).subarray(0, 100));
    setTimeout(() => response.destroy(), 50);
  };
  await expect(read()).rejects.toThrow(ApiConnectionError);
});

it('does not hide a connection that falls silent', async () => {
  answer = (_, response) =>
    void response.writeHead(200, { 'content-encoding': 'gzip' }).write(gzipSync(BODY).subarray(0, 100));
  await expect(read(100)).rejects.toThrow(ApiSilenceError);
});

it('of an error is undone as well', async () => {
  answer = (_, response) =>
    void response
      .writeHead(429, { 'content-encoding': 'gzip', 'content-type': 'application/json', 'retry-after': '2' })
      .end(gzipSync(JSON.stringify({ kind: 'Status', reason: 'TooManyRequests', message: 'later' })));
  await expect(client.open({ path: '/', large: true })).rejects.toMatchObject({
    code: 429,
    reason: 'TooManyRequests',
    retryAfter: 2000,
  });
});
