import {
  ApiClient,
  RequestRate,
  type AnsweredRequest,
} from '../../../../src/adapters/kubernetes/client/api-client.js';
import { StandInApiServer } from '../../../support/api-server/api-server.js';
import { writeKubeconfig } from '../../../support/api-server/kubeconfig.js';
import { CountingClock } from '../harness.js';

let server: StandInApiServer;
let told: (AnsweredRequest & { readonly seconds: number })[];
let waits: number[];
let client: ApiClient;

beforeEach(async () => {
  server = await StandInApiServer.start();
  server.clusterRole = undefined;
  told = [];
  waits = [];
  const observer = {
    answered: (request: AnsweredRequest, seconds: number) => void told.push({ ...request, seconds }),
    waited: (_: object, seconds: number) => void waits.push(seconds),
  };
  const clock = new CountingClock();
  const kubeconfig = await writeKubeconfig(server);
  client = new ApiClient({ kubeconfig }, clock, { observer, rate: new RequestRate(20, 1, clock) });
});

afterEach(async () => {
  client.close();
  await server.close();
});

describe('ApiObserver', () => {
  it('counts responses, rejections, and requests without a response', async () => {
    const host = new URL(server.url).host;
    await client.json({ path: '/api/v1/services' });
    server.faults.fail({ status: 503, times: 1 });
    await expect(client.json({ path: '/api/v1/services' })).rejects.toThrow();
    await expect(client.json({ method: 'POST', path: '/no/such/thing', body: '{}' })).rejects.toThrow();
    client.close();
    await server.close();
    await expect(client.json({ path: '/api/v1/services' })).rejects.toThrow();
    expect(told.map(({ code, method, host: to }) => [code, method, to])).toEqual([
      ['200', 'GET', host],
      ['503', 'GET', host],
      ['404', 'POST', host],
      ['<error>', 'GET', host],
    ]);
    for (const { seconds } of told) expect(seconds).toBeGreaterThanOrEqual(0);
    expect(waits).toHaveLength(4);
    for (const seconds of waits) expect(seconds).toBeGreaterThanOrEqual(0);
  });

  it('hears where connections are opened, also those that fail, of addresses and of names', async () => {
    const { port, protocol } = new URL(server.url);
    const used: string[] = [];
    const observer = {
      answered: () => undefined,
      waited: () => undefined,
      connecting: (address: string, to: number) => void used.push(`${address} ${to}`),
    };
    const asks = async (host: string): Promise<readonly string[]> => {
      used.length = 0;
      const master = `${protocol}//${host}:${port}`;
      const asking = new ApiClient({ master }, new CountingClock(), { observer });
      await asking.json({ path: '/api/v1/services' }).catch(() => undefined);
      asking.close();
      return used;
    };
    expect(await asks('127.0.0.1')).toContain(`127.0.0.1 ${port}`);
    expect(await asks('localhost')).toContain(`127.0.0.1 ${port}`);
    await server.close();
    expect(await asks('127.0.0.1')).toContain(`127.0.0.1 ${port}`);
    expect(await asks('localhost')).toContain(`127.0.0.1 ${port}`);
  });

  it('hears nothing of a request that the caller gave up', async () => {
    server.faults.delay = 300;
    const abort = new AbortController();
    const asked = client.json({ path: '/api/v1/services', signal: abort.signal });
    setTimeout(() => abort.abort(), 50);
    await expect(asked).rejects.toThrow();
    expect(told).toEqual([]);
  });
});
