import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { ApiSilenceError } from '../../../../src/adapters/kubernetes/client/api-error.js';
import { ResponseBody } from '../../../../src/adapters/kubernetes/client/http-exchange.js';
import { CountingClock } from '../harness.js';

let clock: CountingClock;
let response: Readable;
let body: ResponseBody;
let taken: string[];

beforeEach(() => {
  clock = new CountingClock();
  response = Object.assign(new Readable({ read() {} }), { headers: {} });
  body = new ResponseBody(response as IncomingMessage, 'GET /', clock);
  taken = [];
});

afterEach(() => expect(clock.open.size).toBe(0));

function take(piece: Buffer): boolean {
  taken.push(piece.toString());
  return piece.toString() === 'stop';
}

it('passes each piece on in the turn in which it arrives, up to its end', async () => {
  const end = body.read(5_000, take);
  await turn();
  response.push('one');
  expect(taken).toEqual(['one']);
  response.push('two');
  expect(taken).toEqual(['one', 'two']);
  response.push(null);
  expect(await end).toBe(false);
  expect(await body.read(5_000, take)).toBe(false);
});

it('keeps the pieces after one that was taken with true, for the next call', async () => {
  for (const piece of ['one', 'stop', 'two', 'three']) response.push(piece);
  expect(await body.read(5_000, take)).toBe(true);
  await turn();
  expect(taken).toEqual(['one', 'stop']);
  response.push(null);
  expect(await body.read(5_000, take)).toBe(false);
  expect(taken).toEqual(['one', 'stop', 'two', 'three']);
});

it('tells the next reader of a connection that broke while nobody read', async () => {
  response.push('stop');
  expect(await body.read(5_000, take)).toBe(true);
  response.destroy(new Error('reset'));
  await turn();
  await expect(body.read(5_000, take)).rejects.toMatchObject({
    name: 'ApiConnectionError',
    message: 'GET /: reset',
  });
});

it('closes the connection when a piece cannot be used, and passes on none after it', async () => {
  const read = body.read(5_000, (piece) => {
    take(piece);
    throw new SyntaxError('unusable');
  });
  response.push('one');
  response.push('two');
  await expect(read).rejects.toThrow(SyntaxError);
  expect(response.destroyed).toBe(true);
  expect(taken).toEqual(['one']);
});

it('counts silence from the last piece, and only while somebody reads', async () => {
  response.push('stop');
  expect(await body.read(100, take)).toBe(true);
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(response.destroyed).toBe(false);
  await expect(body.read(100, take)).rejects.toThrow(ApiSilenceError);
  expect(response.destroyed).toBe(true);
});
