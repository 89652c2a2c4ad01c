import fc from 'fast-check';
import type { RowFilter, ServiceRow } from '../../../../src/diagnostics/application/status/service-row.js';
import { rawService, rawSlice } from '../../../support/objects.js';
import { SeenCluster } from '../../../support/seen-cluster.js';
import { timeText } from '../../../../src/domain/model/text.js';

const ALL: RowFilter = { names: [], problems: false };
const named = (namespace: string, name: string, spec: object = {}) =>
  rawService(spec, { metadata: { namespace, name } });
const sliceOf = (namespace: string, name: string, ...addresses: readonly string[]) =>
  rawSlice(
    { endpoints: addresses.map((address) => ({ addresses: [address] })) },
    { namespace, name: `${name}-1`, labels: { 'kubernetes.io/service-name': name } },
  );

async function rows(cluster: SeenCluster, filter: Partial<RowFilter> = {}): Promise<readonly ServiceRow[]> {
  const found: ServiceRow[] = [];
  for await (const portion of cluster.list.rows({ ...ALL, ...filter })) found.push(...portion);
  return found;
}

const keys = async (cluster: SeenCluster, filter: Partial<RowFilter> = {}) =>
  (await rows(cluster, filter)).map(({ namespace, name }) => `${namespace}/${name}`);

describe('ListServices', () => {
  const cluster = new SeenCluster().deliver(
    [
      named('shop-b', 'cart', { clusterIP: '10.96.0.3', ports: [{ name: 'http', port: 80 }] }),
      named('shop', 'web', {
        type: 'NodePort',
        clusterIPs: ['10.96.0.1', 'fd00:96::1'],
        ipFamilies: ['IPv4', 'IPv6'],
        externalIPs: ['198.51.100.7'],
        ports: [{ port: 80, nodePort: 30080 }],
      }),
      named('shop', 'cart', { clusterIP: '10.96.0.2' }),
      named('shop', 'db', { clusterIP: 'None' }),
    ],
    [sliceOf('shop', 'web', '10.1.1.1', '10.1.1.2'), sliceOf('shop', 'cart', '10.1.1.3')],
  );
  cluster.statuses.set('IPv4', 'shop/cart/tcp/', {
    state: 'failed',
    sinceTime: timeText(1),
    reason: 'EINVAL',
    attempts: 1,
  });

  it('has a row for each Service that is served, by namespace and name', async () => {
    expect(await rows(cluster)).toEqual([
      {
        namespace: 'shop',
        name: 'cart',
        type: 'ClusterIP',
        frontends: ['10.96.0.2:80/TCP'],
        endpointCounts: { used: 1, known: 1 },
        state: 'error',
        cause: 'ProgrammingFailed',
        reason: 'it cannot be programmed on the node: EINVAL',
        nextStep: 'check the proxy of the node: kubeproxy status',
      },
      {
        namespace: 'shop',
        name: 'web',
        type: 'NodePort',
        frontends: ['10.96.0.1:80/TCP', '[fd00:96::1]:80/TCP', '198.51.100.7:80/TCP', '30080/TCP'],
        endpointCounts: { used: 2, known: 2 },
        state: 'error',
        cause: 'OtherFamily',
        reason: 'all its EndpointSlices are IPv4, and its cluster IP is IPv6',
        nextStep:
          'compare the address types: kubectl -n shop describe endpointslices -l kubernetes.io/service-name=web',
      },
      {
        namespace: 'shop-b',
        name: 'cart',
        type: 'ClusterIP',
        frontends: ['10.96.0.3:80/TCP'],
        portNames: ['http'],
        endpointCounts: { used: 0, known: 0 },
        state: 'error',
        cause: 'NoEndpointSlice',
        reason: 'it has no selector, and no EndpointSlice has the label kubernetes.io/service-name=cart',
        nextStep:
          'add a selector, or an EndpointSlice with this label: kubectl -n shop-b get endpointslices --show-labels',
      },
    ]);
  });

  it('counts a pod with two addresses, and an address in two slices, once in the column and in the reason', async () => {
    const targetRef = { kind: 'Pod', namespace: 'shop', name: 'two-1' };
    const slice = (name: string, ...endpoints: readonly object[]) =>
      rawSlice({ endpoints }, { namespace: 'shop', name, labels: { 'kubernetes.io/service-name': 'two' } });
    const two = new SeenCluster().deliver(
      [named('shop', 'two', { clusterIP: '10.96.0.9' })],
      [
        slice('two-a', { addresses: ['10.1.1.1'], targetRef }, { addresses: ['10.1.1.3'] }),
        slice('two-b', { addresses: ['10.1.1.2'], targetRef }, { addresses: ['10.1.1.3'] }),
      ],
    );
    two.statuses.set('IPv4', 'shop/two/tcp/', { state: 'programmed', sinceTime: timeText(1) });
    expect(await rows(two)).toMatchObject([
      { endpointCounts: { used: 2, known: 2 }, reason: '2 of 2 endpoints are ready' },
    ]);
  });

  it.each([
    [{ namespace: 'shop' }, ['shop/cart', 'shop/web']],
    [{ names: ['cart'] }, ['shop/cart', 'shop-b/cart']],
    [{ namespace: 'shop', names: ['cart'] }, ['shop/cart']],
    [{ namespace: 'shop', names: ['web', 'shop-b/cart'] }, ['shop/web', 'shop-b/cart']],
    [{ problems: true, names: ['cart'] }, ['shop/cart', 'shop-b/cart']],
  ])('filters by %j', async (filter, found) => {
    expect(await keys(cluster, filter)).toEqual(found);
  });

  it('tells names that are unknown from Services that are not served', async () => {
    const names = ['cart', 'db', 'nope', 'shop/none', 'shop-b/db'];
    expect(await cluster.list.notProxied({ ...ALL, names })).toEqual({
      services: [
        {
          namespace: 'shop',
          name: 'db',
          frontends: [],
          endpointCounts: { used: 0, known: 0 },
          state: 'ok',
          cause: 'Headless',
          reason: expect.stringMatching(/headless/) as string,
        },
      ],
      unknownNames: [
        { name: 'nope', reason: expect.stringContaining('use NAMESPACE/NAME') as string },
        { name: 'shop/none', reason: 'there is no Service none in namespace shop' },
        { name: 'shop-b/db', reason: 'there is no Service db in namespace shop-b' },
      ],
    });
    expect(await cluster.list.notProxied({ ...ALL, namespace: 'shop', names: ['db', 'cart'] })).toMatchObject(
      {
        services: [{ name: 'db' }],
        unknownNames: [],
      },
    );
    expect(await cluster.list.notProxied(ALL)).toEqual({ services: [], unknownNames: [] });
  });

  it('says so while Services are still being listed', async () => {
    const young = new SeenCluster();
    young.isListed = false;
    const { unknownNames } = await young.list.notProxied({ ...ALL, names: ['cart'] });
    expect(unknownNames).toEqual([
      { name: 'cart', reason: expect.stringContaining('not all Services have been listed yet') as string },
    ]);
  });

  it('does not know a Service of which nobody can tell whether it exists', async () => {
    const find = () => Promise.reject(new Error('ECONNREFUSED'));
    const list = await new SeenCluster({ lookup: { find } }).list.notProxied({
      ...ALL,
      names: ['shop/x', 'y'],
    });
    expect(list).toEqual({
      services: [],
      unknownNames: [
        { name: 'shop/x', reason: expect.stringContaining('ECONNREFUSED') as string },
        { name: 'y', reason: expect.stringContaining('no proxied Service has this name') as string },
      ],
    });
  });

  it('has a row for an invalid Service, until it is corrected', async () => {
    const one = new SeenCluster().deliver([named('shop', 'cart')], [sliceOf('shop', 'cart', '10.1.1.1')]);
    one.unread.push('a.yaml:3: Service shop/bad: spec.ports is missing');
    for (const problems of [false, true])
      expect(await rows(one, { problems })).toContainEqual({
        namespace: 'shop',
        name: 'bad',
        frontends: [],
        endpointCounts: { used: 0, known: 0 },
        state: 'error',
        cause: 'InvalidObject',
        reason: expect.stringContaining('spec.ports is missing') as string,
        nextStep: 'correct the object: kubectl -n shop edit service bad',
      });
    expect(one.verdicts.counts()).toEqual({ ok: 1, warning: 0, error: 1 });
    const names = ['bad', 'shop/bad'];
    expect(await keys(one, { names })).toEqual(['shop/bad']);
    expect(await one.list.notProxied({ ...ALL, names })).toEqual({ services: [], unknownNames: [] });
    one.unread.pop();
    expect(await keys(one)).toEqual(['shop/cart']);
    expect(one.verdicts.counts()).toEqual({ ok: 1, warning: 0, error: 0 });
  });

  it('shows what waits, what is degraded, and what is held back', async () => {
    const one = new SeenCluster().deliver([named('shop', 'cart')], [sliceOf('shop', 'cart', '10.1.1.1')]);
    const found = async () => (await rows(one)).map(({ state, cause, reason }) => [state, cause, reason]);
    expect(await found()).toEqual([['ok', undefined, '1 of 1 endpoint is ready']]);
    expect(await keys(one, { problems: true })).toEqual([]);
    one.waiting.add('shop/cart');
    expect(await found()).toEqual([['warning', 'Pending', 'its last change is not programmed yet']]);
    one.waiting.clear();
    one.statuses.set('IPv4', 'shop/cart/tcp/', {
      state: 'degraded',
      sinceTime: timeText(1),
      reason: '10.96.7.1:80/TCP belongs to a/b',
      conflicts: [{ frontend: '10.96.7.1:80/TCP', owner: 'a/b' }],
    });
    expect(await found()).toEqual([
      [
        'error',
        'FrontendConflict',
        'all its frontends belong to other Services: 10.96.7.1:80/TCP belongs to a/b',
      ],
    ]);
    expect(await rows(one)).toMatchObject([{ endpointCounts: { used: 0, known: 1 } }]);
    expect(await keys(one, { problems: true })).toEqual(['shop/cart']);
    one.statuses.remove('IPv4', 'shop/cart/tcp/');
    expect(await found()).toEqual([['warning', 'Pending', 'its last change is not programmed yet']]);
    const empty = new SeenCluster();
    empty.unread.push('a.yaml:7: broken');
    empty.deliver([named('shop', 'cart')]);
    empty.loops[0]!.table.update(new SeenCluster().state, ['shop/cart'], { family: 'IPv4' } as never);
    expect(await rows(empty)).toMatchObject([{ state: 'warning', cause: 'UnreadObjects' }]);
  });

  it('shows that a port could not be removed', async () => {
    const one = new SeenCluster().deliver([named('shop', 'cart')]);
    const failed = {
      state: 'failed',
      sinceTime: timeText(1),
      reason: 'ipset rejected it',
      attempts: 1,
    } as const;
    one.statuses.set('IPv4', 'shop/cart/tcp/former', failed);
    expect(await rows(one)).toMatchObject([
      {
        state: 'error',
        cause: 'ProgrammingFailed',
        reason: 'a port that it no longer has cannot be removed: ipset rejected it',
      },
    ]);
  });

  it('sorts any names as their parts sort', async () => {
    const part = fc.stringMatching(/^[a-c](?:[a-c-]{0,2}[a-c])?$/);
    const names = fc.uniqueArray(fc.tuple(part, part), { maxLength: 8, selector: (pair) => pair.join('/') });
    await fc.assert(
      fc.asyncProperty(names, async (pairs) => {
        const some = new SeenCluster().deliver(pairs.map(([namespace, name]) => named(namespace, name)));
        const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
        const sorted = [...pairs].sort(([a, b], [c, d]) => compare(a, c) || compare(b, d));
        expect(await keys(some)).toEqual(sorted.map((pair) => pair.join('/')));
      }),
      { numRuns: 50 },
    );
  });

  it('gives turns to others while it lists 10,000', async () => {
    const many = Array.from({ length: 10_000 }, (_, index) =>
      named('shop', `s${index}`, { clusterIP: `10.96.${index >> 8}.${index & 255}` }),
    );
    const large = new SeenCluster().deliver(many);
    let turns = 0;
    const count = (): void => {
      turns++;
      timer = setImmediate(count);
    };
    let timer = setImmediate(count);
    const listed = await rows(large);
    clearImmediate(timer);
    expect([listed.length, new Set(listed.map(({ name }) => name)).size]).toEqual([10_000, 10_000]);
    // At most 250 rows a turn.
    expect(turns).toBeGreaterThanOrEqual(39);
  });
});

it('counts the endpoints that step aside', async () => {
  const annotations = { 'kube-proxy-ts/eject-unresponsive-endpoints': 'true' };
  const cluster = new SeenCluster();
  cluster.aside.add('10.1.1.2:8080');
  cluster.deliver(
    [rawService({ clusterIP: '10.96.0.1' }, { metadata: { namespace: 'shop', name: 'web', annotations } })],
    [sliceOf('shop', 'web', '10.1.1.1', '10.1.1.2')],
  );
  const [row] = await rows(cluster);
  expect(row!.endpointCounts).toEqual({ used: 1, known: 2, ejected: 1 });
});

it('lists where the proxy itself listens for a node port', async () => {
  const ports = [{ port: 80, nodePort: 30080 }];
  const cluster = new SeenCluster().deliver([named('shop', 'web', { type: 'NodePort', ports })]);
  cluster.localhost.set('IPv4 shop/web/tcp/', '127.0.0.1:30080');
  const [web] = await rows(cluster);
  expect(web!.frontends.slice(1)).toEqual(['30080/TCP', '127.0.0.1:30080/TCP']);
});

it('counts an endpoint once: dual-stack DNS with one pod and three ports has one', async () => {
  const cluster = new SeenCluster();
  const ports = [
    { name: 'dns', port: 53, protocol: 'UDP' },
    { name: 'dns-tcp', port: 53, protocol: 'TCP' },
    { name: 'metrics', port: 9153, protocol: 'TCP' },
  ];
  const targetRef = { kind: 'Pod', name: 'coredns-5d7' };
  const slice = (name: string, addressType: string, ...endpoints: readonly object[]) =>
    rawSlice({ addressType, ports, endpoints }, { name });
  const clusterIPs = ['10.96.0.10', 'fd00:96::a'];
  const service = rawService({ clusterIP: clusterIPs[0], clusterIPs, ipFamilies: ['IPv4', 'IPv6'], ports });
  cluster.deliver(
    [service],
    [
      slice('a', 'IPv4', { addresses: ['10.244.1.5'], targetRef }),
      slice('b', 'IPv6', { addresses: ['fd00::5'], targetRef }),
    ],
  );
  expect((await rows(cluster))[0]!.endpointCounts).toEqual({ used: 1, known: 1 });
  cluster.deliver(
    [],
    [
      slice('a', 'IPv4', { addresses: ['10.244.1.5'], targetRef }, { addresses: ['10.244.1.6'] }),
      slice('b', 'IPv6', { addresses: ['fd00::5'], targetRef, conditions: { ready: false } }),
    ],
  );
  expect((await rows(cluster))[0]!.endpointCounts).toEqual({ used: 2, known: 2 });
});

it('reads the connections, and counts endpoints that do not answer', async () => {
  const cluster = new SeenCluster().deliver(
    [rawService({ clusterIP: '10.96.0.1' }, { metadata: { namespace: 'shop', name: 'web' } })],
    [sliceOf('shop', 'web', '10.1.1.1', '10.1.1.2', '10.1.1.3')],
  );
  cluster.unresponsive.set('IPv4 shop/web/tcp/', new Map([['10.1.1.2:8080', 772]]));
  expect(await rows(cluster)).toMatchObject([
    {
      state: 'warning',
      cause: 'UnresponsiveEndpoint',
      endpointCounts: { used: 3, known: 3, unresponsive: 1 },
    },
  ]);
  expect(cluster.answers.reads).toBe(1);
});
