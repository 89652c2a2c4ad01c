import { ApiServiceLookup } from '../../../src/adapters/kubernetes/kubernetes-source.js';
import { ApiClient, type ApiRequest } from '../../../src/adapters/kubernetes/client/api-client.js';
import { readService } from '../../../src/domain/decode/read-service.js';
import { StandInApiServer } from '../../support/api-server/api-server.js';
import { writeKubeconfig } from '../../support/api-server/kubeconfig.js';
import { CountingClock } from './harness.js';

/** Longer than a busy machine takes. Milliseconds. */
const AMPLE = 60_000;

let api: StandInApiServer;
let client: ApiClient;
let lookup: ApiServiceLookup;

const put = (namespace: string, name: string, spec: object): void =>
  void api.put({ apiVersion: 'v1', kind: 'Service', metadata: { namespace, name }, spec });

beforeAll(async () => {
  api = await StandInApiServer.start();
  client = new ApiClient({ kubeconfig: await writeKubeconfig(api) }, new CountingClock());
  lookup = new ApiServiceLookup(() => Promise.resolve(client), AMPLE);
  put('shop', 'db', { clusterIP: 'None' });
  put('prod', 'db', { type: 'ExternalName' });
});

afterAll(async () => {
  client.close();
  await api.close();
});

describe('ApiServiceLookup', () => {
  it('finds Services that are not delivered, with the rights of a node proxy', async () => {
    expect(readService(await lookup.find('shop/db')).ignored).toBe('headless');
    expect(readService(await lookup.find('prod/db')).ignored).toBe('external-name');
    expect(await lookup.find('shop/none')).toBeUndefined();
  });

  it('does not ask about what no Service is named', async () => {
    const before = api.requests.length;
    for (const name of ['shop', '../x/y', 'shop/a?b', 'shop/a,metadata.name=b', 'a/b/c'])
      expect(await lookup.find(name)).toBeUndefined();
    expect(api.requests).toHaveLength(before);
  });

  it('asks one question at a time, and goes on after one that failed', async () => {
    const answers: unknown[] = [];
    let open = 0;
    let most = 0;
    const slow = {
      json: async () => {
        most = Math.max(most, ++open);
        await new Promise((resolve) => setImmediate(resolve));
        open--;
        if (answers.length === 0) throw new Error('ECONNREFUSED');
        return { items: [{}] };
      },
    } as unknown as ApiClient;
    const careful = new ApiServiceLookup(() => Promise.resolve(slow));
    const asked = ['a/a', 'a/b', 'a/c'].map((name) =>
      careful
        .find(name)
        .catch((error: Error) => error.message)
        .then((answer) => answers.push(answer)),
    );
    await Promise.all(asked);
    expect([answers, most]).toEqual([['ECONNREFUSED', {}, {}], 1]);
  });

  it('gives up on an API server that does not answer', async () => {
    const silent = {
      json: ({ signal }: ApiRequest) =>
        new Promise((_, reject) =>
          signal!.addEventListener('abort', () => reject(signal!.reason as Error), { once: true }),
        ),
    } as unknown as ApiClient;
    const impatient = new ApiServiceLookup(() => Promise.resolve(silent), 1);
    await expect(impatient.find('a/a')).rejects.toThrow('timeout');
  });
});
