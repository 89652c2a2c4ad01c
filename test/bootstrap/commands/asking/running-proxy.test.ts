import { CannotAskError } from '../../../../src/bootstrap/commands/asking/cannot-ask-error.js';
import { RunningProxy } from '../../../../src/bootstrap/commands/asking/running-proxy.js';
import type { Handler } from '../../../../src/adapters/http/router.js';
import { Served } from '../../../support/http/served.js';

let served: Served;
afterEach(() => served.stop());

async function proxyThat(handler: Handler): Promise<RunningProxy> {
  served = await Served.start({ '/numbers': handler });
  const { url } = await served.get('/numbers');
  return RunningProxy.at(new URL(url).host);
}

async function numbers(
  proxy: RunningProxy,
  signal = new AbortController().signal,
): Promise<readonly number[]> {
  const all: number[] = [];
  for await (const number of proxy.follow<number>('/numbers', signal)) all.push(number);
  return all;
}

it('gives the values as they come', async () => {
  const proxy = await proxyThat((_, response) => {
    response.write('1\n2\n');
    response.end('3\n');
  });
  expect(await numbers(proxy)).toEqual([1, 2, 3]);
});

it('ends without an error when it is to end', async () => {
  const proxy = await proxyThat((_, response) => void response.write('1\n'));
  const ending = new AbortController();
  for await (const number of proxy.follow<number>('/numbers', ending.signal)) {
    expect(number).toBe(1);
    ending.abort();
  }
});

it('cannot ask a proxy that refuses, and says why', async () => {
  const proxy = await proxyThat((_, response) => void response.writeHead(503).end('too many\n'));
  await expect(numbers(proxy)).rejects.toThrow(
    new CannotAskError(`the proxy at ${proxy.url}/numbers refuses: too many`),
  );
});

it('cannot ask a proxy that breaks off', async () => {
  const proxy = await proxyThat((_, response) => {
    response.write('1\n');
    setTimeout(() => response.destroy(), 20);
  });
  await expect(numbers(proxy)).rejects.toThrow(CannotAskError);
});

it('asks for one answer, and says what came instead', async () => {
  served = await Served.start({
    '/answer': (_, response) => void response.writeHead(404).end('{"known":false}'),
    '/metrics': (_, response) => void response.writeHead(200).end('# HELP a\n# TYPE a\n'),
  });
  const proxy = RunningProxy.at(served.address);
  expect(await proxy.ask('/answer')).toEqual({ known: false });
  await expect(proxy.ask('/metrics')).rejects.toMatchObject({
    name: 'CannotAskError',
    message: `${proxy.url}/metrics answers 200: # HELP a; check that a proxy of this version is running there`,
  });
  await expect(proxy.ask('/nowhere')).rejects.toThrow('/nowhere answers 404: 404 page not found; check');
});
