import { anything, fields, flag, number } from '../../../../../src/domain/shape.js';
import { QueryError, RunningProxy } from '../../../../../src/diagnostics/adapters/cli/running-proxy.js';
import type { Handler } from '../../../../../src/adapters/http/router.js';
import { Served } from '../../../../support/http/served.js';

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
  for await (const one of proxy.follow('/numbers', number, 60_000, signal)) all.push(one);
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
  for await (const one of proxy.follow('/numbers', number, 60_000, ending.signal)) {
    expect(one).toBe(1);
    ending.abort();
  }
});

it('cannot ask a proxy that refuses, and says why', async () => {
  const proxy = await proxyThat((_, response) => void response.writeHead(503).end('too many\n'));
  await expect(numbers(proxy)).rejects.toThrow(
    new QueryError(`the proxy at ${proxy.url}/numbers rejects the request: too many`),
  );
});

it('cannot ask a proxy that breaks off', async () => {
  const proxy = await proxyThat((_, response) => {
    response.write('1\n');
    setTimeout(() => response.destroy(), 20);
  });
  await expect(numbers(proxy)).rejects.toThrow(QueryError);
});

it('asks for one answer, and says what came instead', async () => {
  served = await Served.start({
    '/answer': (_, response) => void response.writeHead(404).end('{"known":false}'),
    '/metrics': (_, response) => void response.writeHead(200).end('# HELP a\n# TYPE a\n'),
  });
  const proxy = RunningProxy.at(served.address);
  expect(await proxy.query('/answer', fields({ known: flag }))).toEqual({ known: false });
  await expect(proxy.query('/metrics', anything)).rejects.toMatchObject({
    name: 'QueryError',
    message: `${proxy.url}/metrics answers 200 as no proxy does, it is not JSON: # HELP a; check that a proxy of this version is running there`,
  });
  await expect(proxy.query('/nowhere?of=a', anything)).rejects.toThrow(
    '/nowhere answers 404 as no proxy does, it is not JSON: 404 page not found; check',
  );
});

/** Answers the same for ever, as fast as it is read. */
const endless =
  (piece: string): Handler =>
  (_, response) => {
    const fill = (error?: Error | null): void => {
      if (!error && !response.destroyed) response.write(piece, fill);
    };
    fill();
  };

describe('a server that is no proxy', () => {
  const start = async (handler: Handler): Promise<RunningProxy> => {
    served = await Served.start({ '/answer': handler });
    return RunningProxy.at(served.address);
  };
  const shape = fields({ known: flag });

  it.each(['null', '[]', '42', '{}', '"text"', '{"known":null}', '', '<html>', '{"known":true'])(
    'is told by its answer %j',
    async (body) => {
      const proxy = await start((_, response) => void response.end(body));
      await expect(proxy.query('/answer', shape)).rejects.toThrow(QueryError);
      await expect(proxy.query('/answer', shape)).rejects.toThrow('/answer answers 200 as no proxy does');
    },
  );

  it('is told by a line of its stream', async () => {
    const proxy = await start((_, response) => void response.end('{"known":true}\n[]\n'));
    const seen: unknown[] = [];
    const following = (async () => {
      for await (const one of proxy.follow('/answer', shape, 60_000, new AbortController().signal))
        seen.push(one);
    })();
    await expect(following).rejects.toThrow(
      /answers as no proxy does, it is a list, where an object belongs/,
    );
    expect(seen).toEqual([{ known: true }]);
  });

  it('is not followed elsewhere', async () => {
    const proxy = await start((_, response) => void response.writeHead(302, { Location: '/other' }).end());
    await expect(proxy.query('/answer', shape)).rejects.toThrow('/answer answers 302 as no proxy does');
  });

  it('is left when it does not end', async () => {
    const proxy = await start(endless('x'.repeat(64 * 1024)));
    await expect(proxy.query('/answer', shape, 120_000)).rejects.toThrow(
      'the answer has more than 67108864 bytes',
    );
    const following = proxy.follow('/answer', shape, 120_000, new AbortController().signal).next();
    await expect(following).rejects.toThrow('a line has more than 67108864 characters');
  });

  it('is left when it says nothing', async () => {
    const proxy = await start((_, response) => response.flushHeaders());
    await expect(proxy.query('/answer', shape, 50)).rejects.toThrow(QueryError);
    const following = proxy.follow('/answer', shape, 50, new AbortController().signal).next();
    await expect(following).rejects.toThrow('no proxy answers at');
  });

  it('is told by its depth, and by very many lists', async () => {
    const proxy = await start(
      ({ parameters }, response) =>
        void response.end(parameters.has('deep') ? '['.repeat(1_000_000) : `[${'[],'.repeat(2_000_000)}[]]`),
    );
    await expect(proxy.query('/answer?deep', anything)).rejects.toThrow('it has more than 32 levels');
    await expect(proxy.query('/answer', anything)).rejects.toThrow('more than 2000000 lists and objects');
  });
});
