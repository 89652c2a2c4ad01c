import { SearchServices } from '../../../../src/diagnostics/application/status/search-services.js';
import { rawService, rawSlice } from '../../../support/objects.js';
import { SeenCluster } from '../../../support/seen-cluster.js';

const never = new AbortController().signal;
let made = 0;

const service = (key: string, spec: object = {}) => {
  const [namespace, name] = key.split('/');
  made++;
  return rawService(
    { clusterIP: `10.96.${made >> 8}.${made & 255}`, ...spec },
    { metadata: { namespace, name } },
  );
};
const slice = (key: string, ready: boolean, ...addresses: readonly string[]) => {
  const [namespace, name = ''] = key.split('/');
  return rawSlice(
    {
      ports: [{ name: key === 'shop/web' ? 'http' : '', port: 8080, protocol: 'TCP' }],
      endpoints: addresses.map((address) => ({ addresses: [address], conditions: { ready } })),
    },
    { namespace, name: `${name}-1`, labels: { 'kubernetes.io/service-name': name } },
  );
};
const searchIn = ({ state, loops, list, verdicts }: SeenCluster) => {
  for (const key of state.serviceKeys()) verdicts.touch(key);
  return new SearchServices(state, loops, list, verdicts);
};

describe('SearchServices', () => {
  made = 0;
  const cluster = new SeenCluster().deliver(
    [
      service('shop/web-api'), // 10.96.0.1
      service('shop/web', {
        type: 'NodePort',
        ports: [{ name: 'http', port: 80, nodePort: 30_443 }],
      }), // 10.96.0.2
      service('shop/frontweb'), // 10.96.0.3
      service('web/cart'), // 10.96.0.4
      ...Array.from({ length: 16 }, (_, number) => service(`many/s${number}`)), // 10.96.0.20 is the last
    ],
    [
      slice('shop/web-api', true, '10.1.1.1'),
      slice('shop/web', true, '10.1.1.12'),
      slice('shop/frontweb', true, '10.1.2.1'),
      slice('web/cart', false, '10.1.3.1'),
      ...Array.from({ length: 16 }, (_, number) => slice(`many/s${number}`, true, `10.2.1.${number}`)),
    ],
  );
  const services = searchIn(cluster);
  const found = async (text: string, problems = false, limit = 5) => {
    const { services: rows, total } = await services.search({ text, problems, limit }, never);
    expect(rows.length).toBe(Math.min(limit, total));
    return rows.map(({ namespace, name }) => `${namespace}/${name}`);
  };

  it.each([
    ['web', ['shop/web', 'web/cart', 'shop/web-api', 'shop/frontweb']],
    ['WEB', ['shop/web', 'web/cart', 'shop/web-api', 'shop/frontweb']],
    ['service/web', ['shop/web', 'web/cart', 'shop/web-api', 'shop/frontweb']],
    ['shop/web', ['shop/web', 'shop/web-api']],
    ['shop/web:http', ['shop/web']],
    ['10.96.0.2', ['shop/web', 'many/s15']],
    ['30443', ['shop/web']],
    ['  nodeport  web', ['shop/web']],
    ['.*', []],
    ['cart api', []],
  ])('finds for %j %j, exact matches first', async (text, expected) => {
    expect(await found(text)).toEqual(expected);
  });

  it('has problems first', async () => {
    expect((await found(''))[0]).toBe('web/cart');
    expect(await found('', true)).toEqual(['web/cart']);
    expect(await found('frontweb', true)).toEqual([]);
  });

  it.each([
    [
      '10.1.1.1',
      [
        ['shop/web-api', '10.1.1.1:8080'],
        ['shop/web', '10.1.1.12:8080'],
      ],
    ],
    ['10.1.1.12:8080', [['shop/web', '10.1.1.12:8080']]],
    ['cart .3.1', [['web/cart', '10.1.3.1:8080']]],
    ['10.9.', []],
  ])('finds for %j the endpoints of %j, whatever their state', async (text, expected) => {
    const { services: rows } = await services.search({ text, problems: false, limit: 5 }, never);
    const endpoints = rows.map(({ namespace, name, foundEndpoints = [] }) => [
      `${namespace}/${name}`,
      ...foundEndpoints,
    ]);
    expect(endpoints).toEqual(expected);
  });

  it('returns as many rows as wanted, and counts all', async () => {
    const { services: rows, total } = await services.search(
      { text: 'many', problems: false, limit: 3 },
      never,
    );
    expect([rows.map(({ name }) => name), total]).toEqual([['s0', 's1', 's10'], 16]);
  });

  it('looks no further for a client that has left', async () => {
    made = 0;
    const keys = Array.from({ length: 6_000 }, (_, number) => `large/s${number}`);
    const large = searchIn(
      new SeenCluster().deliver(
        keys.map((key) => service(key)),
        keys.map((key) => slice(key, true, '10.1.1.1')),
      ),
    );
    const query = { text: '10.1.1', problems: false, limit: 1 };
    expect((await large.search(query, never)).total).toBe(6_000);
    expect((await large.search(query, AbortSignal.abort())).total).toBeLessThan(3_000);
  });
});
