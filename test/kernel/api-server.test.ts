import { readFile, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { sampleOf } from '../support/nightly.js';
import {
  serviceObjects,
  testNode,
  testServiceCidr,
  type TestService,
} from '../support/testbed/cluster-objects.js';
import { Command } from '../support/program/command.js';
import type { Host } from '../support/testbed/host.js';
import { DriverBundle } from '../support/program/in-namespace.js';
import { contentsOf, readTable } from '../support/testbed/ruleset.js';
import { bundleStandIn, ServedNode, type StandInBundle } from '../support/program/served-node.js';
import { until } from '../support/until.js';
import { syncStateOf } from '../support/program/status.js';

/** Addresses that the proxy answers on. */
const health = 'http://127.0.0.1:10256';
const metrics = 'http://127.0.0.1:10249';
const SLICES = 'discovery.k8s.io/v1';

let bundle: StandInBundle;
let served: ServedNode;
let namespace: ServedNode['namespace'];
let node: ServedNode['node'];
let api: ServedNode['api'];
let kubeconfig: string;
let proxy: Command | undefined;

beforeAll(async () => {
  bundle = await bundleStandIn();
  ({ namespace, node, api } = served = await ServedNode.open('api', bundle));
});
afterAll(async () => {
  await served.close();
  await bundle.remove();
});
beforeEach(async () => {
  proxy = undefined;
  kubeconfig = await served.renew();
});
afterEach(async () => {
  if (proxy?.running) await proxy.stop('SIGKILL');
});

/** A service of one TCP port; its address follows from its number, its endpoints are listed by number. */
function service(number: number, endpoints: readonly number[] = [number]): TestService {
  return {
    name: `web-${number}`,
    clusterIP: clusterIP(number),
    ports: [{ name: 'http', protocol: 'TCP', port: 80, targetPort: 8080 }],
    endpoints: endpoints.map(endpointIP),
  };
}

const clusterIP = (number: number): string => `172.30.${number >> 8}.${number & 255}`;
const endpointIP = (number: number): string => `10.244.${number >> 8}.${number & 255}`;
const cluster = (...services: readonly TestService[]): object[] => [
  testNode,
  testServiceCidr,
  ...services.flatMap(serviceObjects),
];
const put = (objects: readonly object[]): Promise<void> => api.ask('put', objects as never);
const flags = (...more: readonly string[]): string[] => [
  ...['--proxy-mode', 'nftables', '--kubeconfig', kubeconfig],
  ...['--hostname-override', 'node1', '--cluster-cidr', '10.244.0.0/16'],
  ...more,
];

async function start(...more: readonly string[]): Promise<Command> {
  return (proxy = await Command.start(node, flags('--logging-format', 'json', ...more)));
}

/** The endpoints in the kernel by cluster IP; undefined without a table. */
async function endpoints(): Promise<Record<string, string[]> | undefined> {
  const map = (await readTable(node)).get('map endpoints');
  if (!map) return undefined;
  const byAddress: Record<string, string[]> = {};
  for (const element of map.elements) {
    const [, address, endpoint] = /^(\S+) \. tcp \. 80 \. \S+ : (\S+) \. 8080$/.exec(element) ?? [];
    if (!address) throw new Error(`unexpected element ${element}`);
    (byAddress[address] ??= []).push(endpoint!);
  }
  for (const list of Object.values(byAddress)) list.sort();
  return byAddress;
}

function expectedEndpoints(...services: readonly TestService[]): Record<string, string[]> {
  return Object.fromEntries(services.map((each) => [each.clusterIP, [...each.endpoints].sort()]));
}

/** Waits until the kernel serves exactly these services. */
async function programmed(...services: readonly TestService[]): Promise<void> {
  const expected = expectedEndpoints(...services);
  const holds = async (): Promise<boolean> => {
    expect(await endpoints()).toEqual(expected);
    return true;
  };
  await (proxy ?? { until }).until('the kernel serves these services', holds);
}

async function status(url: string): Promise<number> {
  return (await node.get(url)).status;
}

async function appliedEvents(): Promise<number> {
  return (await syncStateOf(node)).appliedEvents;
}

const listing = (where: Host | ServedNode['namespace'], family: string): Promise<string> =>
  where.run(['nft', 'list', 'table', family, 'kube-proxy']);
/** Whether the ServiceCIDR has its rule. */
const rangeShown = async (): Promise<boolean> => (await listing(node, 'ip')).includes('172.30.0.0/16');

describe('what the API server has', () => {
  it.each([
    ['as a stream of protocol buffers', true],
    ['in pages of JSON', false],
  ])('is in the kernel, service by service, when it comes %s', async (_, streamed) => {
    await api.ask('offer', { protobuf: streamed, streams: streamed });
    const services = Array.from({ length: 510 }, (_, index) => service(index + 1, [index + 1, index + 2000]));
    await put(cluster(...services));
    await start();
    await programmed(...services);

    const table = await readTable(node);
    const ips = services.map((each) => each.clusterIP);
    expect(table.get('set cluster-ips')!.elements).toEqual([...ips].sort());
    const frontends = table.get('map frontends')!.elements.map((element) => element.split(' : ')[0]);
    expect(frontends).toEqual(
      services.map(({ name, clusterIP: ip }) => `${ip} . tcp . 80 comment "default/${name}:http"`).sort(),
    );
    expect(await status(`${health}/healthz`)).toBe(200);
    expect(await status(`${health}/livez`)).toBe(200);

    const requests = await api.ask('requests');
    const pages = requests.filter(({ verb, path }) => verb === 'list' && path === '/api/v1/services');
    expect(pages).toHaveLength(streamed ? 0 : 2);
    const isRefusal = ({ status: code }: (typeof requests)[number]) => !streamed && code === 422;
    // The first one, about the release to behave as.
    expect(requests[0]!.path).toBe('/version');
    const reads = requests.slice(1).filter((request) => request.verb !== 'create' && !isRefusal(request));
    expect(new Set(reads.map(({ verb }) => verb))).toEqual(new Set(streamed ? ['watch'] : ['list', 'watch']));
    expect(new Set(reads.map(({ path }) => path))).toEqual(
      new Set([
        '/api/v1/nodes',
        '/api/v1/services',
        '/apis/discovery.k8s.io/v1/endpointslices',
        '/apis/networking.k8s.io/v1/servicecidrs',
      ]),
    );
    expect(reads.map(({ status: code }) => code)).toEqual(reads.map(() => 200));
    const nodes = requests.filter(({ path }) => path === '/api/v1/nodes');
    expect(nodes.map(({ query }) => query.fieldSelector)).toEqual(nodes.map(() => 'metadata.name=node1'));
  });

  it('is followed: additions, changes and removals, but not other Nodes', async () => {
    await put([...cluster(service(1), service(2)), { ...testNode, metadata: { name: 'node2' } }]);
    await start();
    await programmed(service(1), service(2));
    await until('the service range has come too', rangeShown);
    expect(await appliedEvents()).toBe(6);

    await put(serviceObjects(service(3)));
    await programmed(service(1), service(2), service(3));

    await put([serviceObjects(service(2, [7, 8]))[1]]);
    await programmed(service(1), service(2, [7, 8]), service(3));

    await api.ask('patch', 'v1', 'Service', 'web-1', {
      spec: { clusterIP: clusterIP(9), clusterIPs: [clusterIP(9)] },
    });
    await programmed({ ...service(1), clusterIP: clusterIP(9) }, service(2, [7, 8]), service(3));

    await api.ask('remove', 'v1', 'Service', 'web-1', 'web-3');
    await api.ask('remove', SLICES, 'EndpointSlice', 'web-1-a', 'web-3-a');
    await programmed(service(2, [7, 8]));
    expect((await readTable(node)).get('set cluster-ips')!.elements).toEqual([clusterIP(2)]);
  });

  it.each([
    ...sampleOf([
      ['is resumed', 'a stream of JSON', { compacted: false, protobuf: false, streams: true }],
      ['is resumed', 'pages of protocol buffers', { compacted: false, protobuf: true, streams: false }],
    ] as const),
    ...sampleOf([
      ['is listed anew', 'a stream of protocol buffers', { compacted: true, protobuf: true, streams: true }],
      ['is listed anew', 'pages of JSON', { compacted: true, protobuf: false, streams: false }],
    ] as const),
  ])(
    '%s after all watches broke, over %s, and what vanished meanwhile vanishes from the kernel',
    async (_, __, { compacted, ...offered }) => {
      await api.ask('offer', offered);
      await put(cluster(service(1), service(2), service(3), service(4)));
      await start();
      await programmed(service(1), service(2), service(3), service(4));
      const watches = async (): Promise<boolean> => (await api.ask('openWatches')) === 4;
      await until('all watches are open', watches);

      await api.ask('fail', { status: 503, match: 'watch=true' });
      await api.ask('disconnectWatches');
      await api.ask('remove', 'v1', 'Service', 'web-1', 'web-2');
      await api.ask('remove', SLICES, 'EndpointSlice', 'web-1-a', 'web-2-a');
      await put([...serviceObjects(service(3, [30])), ...serviceObjects(service(5))]);
      if (compacted) await api.ask('compact');
      const before = (await api.ask('requests')).length;
      expect(await endpoints()).toEqual(expectedEndpoints(service(1), service(2), service(3), service(4)));
      await api.ask('clearFaults');

      await programmed(service(3, [30]), service(4), service(5));
      const requests = (await api.ask('requests')).slice(before);
      const lists = requests.filter(
        // One small list shows that the storage was not restored.
        ({ verb, query }) => (verb === 'list' && query.limit !== '1') || query.sendInitialEvents === 'true',
      );
      expect(lists.length > 0).toBe(compacted);
      await until('all watches are open', watches);
    },
  );
});

it('is read as Endpoints where the cluster is too old for slices', async () => {
  await api.ask('lack', '/apis/discovery.k8s.io');
  await api.ask('lack', '/apis/networking.k8s.io');
  const [web] = serviceObjects(service(1));
  const endpointsOf = (...numbers: readonly number[]): object => ({
    apiVersion: 'v1',
    kind: 'Endpoints',
    metadata: { name: 'web-1' },
    subsets: [
      {
        addresses: numbers.map((number) => ({ ip: endpointIP(number) })),
        ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
      },
    ],
  });
  await put([testNode, web, endpointsOf(1)]);
  await start();
  await programmed(service(1, [1]));
  await put([endpointsOf(1, 2)]);
  await programmed(service(1, [1, 2]));
});

describe('a server that is not there', () => {
  it('at the start: nothing is written before the first lists, then everything', async () => {
    await put(cluster(service(1), service(2)));
    await api.ask('close');
    await start();
    await until('the proxy answers', async () => (await status(`${metrics}/proxyMode`)) === 200);
    await until('the failure is told', async () =>
      (await node.get(`${health}/healthz`)).body.includes('ECONNREFUSED'),
    );
    expect(await namespace.run(['nft', 'list', 'tables'])).toBe('');
    expect(await status(`${health}/healthz`)).toBe(503);
    // What is away for long is no reason to start the proxy anew.
    expect(await status(`${health}/livez`)).toBe(200);
    const notListed = expect.stringMatching(/^not listed yet: .*ECONNREFUSED/) as string;
    expect(JSON.parse((await node.get(`${health}/healthz`)).body)).toMatchObject({
      healthy: false,
      reason: 'the sync loop has not started; the node is not eligible for traffic',
      stale: { Service: notListed, EndpointSlice: notListed },
    });
    expect(JSON.parse((await node.get(`${health}/readyz`)).body)).toMatchObject({
      ready: false,
      checks: { 'caches-synced': { ok: false }, 'first-sync': { ok: false }, services: { ok: true } },
    });

    await api.ask('open');
    await programmed(service(1), service(2));
    expect(await status(`${health}/healthz`)).toBe(200);
    await until('it is ready', async () => (await status(`${health}/readyz`)) === 200);
    const { body } = await node.get(`${metrics}/metrics`);
    for (const code of ['<error>', '200'])
      expect(body).toMatch(
        new RegExp(`^rest_client_requests_total\\{code="${code}",method="GET",host="[^"]+"\\} [1-9]`, 'm'),
      );
    expect(body).toMatch(/^kube_proxy_ts_watch_connected\{kind="Service"\} 1$/m);
  });

  it('has not listed EndpointSlices: nothing is written, whatever else there is', async () => {
    await put(cluster(service(1)));
    await api.ask('fail', { status: 500, match: '/endpointslices' });
    await start();
    await until('the other objects have come', async () => (await appliedEvents()) >= 3);
    await sleep(200);
    expect(await namespace.run(['nft', 'list', 'tables'])).toBe('');
    await api.ask('clearFaults');
    await programmed(service(1));
  });

  it('any more: the rules stay, the proxy stays healthy, and follows when it is back', async () => {
    await put(cluster(service(1), service(2)));
    await start('-v', '2');
    await programmed(service(1), service(2));
    await until('the service range has come too', rangeShown);
    const before = contentsOf(await readTable(node));
    await api.ask('close');
    await until('the failure is told', () => Promise.resolve(proxy!.log.includes('ECONNREFUSED')));
    expect(contentsOf(await readTable(node))).toEqual(before);
    expect(await status(`${health}/healthz`)).toBe(200);

    await api.ask('remove', 'v1', 'Service', 'web-2');
    await api.ask('remove', SLICES, 'EndpointSlice', 'web-2-a');
    await api.ask('open');
    await programmed(service(1));
  });
});

it('a server that does not answer does not keep it from ending by a signal', async () => {
  await api.ask('delay', 60_000);
  await start();
  await until('the lists are asked for', async () => (await api.ask('requests')).length >= 4);
  const before = Date.now();
  expect(await proxy!.stop()).toMatchObject({ exitCode: 0 });
  // The server answers after a minute.
  expect(Date.now() - before).toBeLessThan(20_000);
  expect(await namespace.run(['nft', 'list', 'tables'])).toBe('');
});

describe('the objects around services', () => {
  it("are followed: the zone of this node's Node object, which decides about hints, and a ServiceCIDR that comes late and goes", async () => {
    const [web, slice] = serviceObjects(service(1, [1, 2]));
    const hinted = {
      ...slice,
      endpoints: ['zone-a', 'zone-b'].map((zone, index) => ({
        addresses: [endpointIP(index + 1)],
        conditions: { ready: true },
        nodeName: 'node2',
        zone,
        hints: { forZones: [{ name: zone }] },
      })),
    };
    const inZone = (zone: string): object => ({
      ...testNode,
      metadata: { name: 'node1', labels: { 'topology.kubernetes.io/zone': zone } },
    });
    await put([inZone('zone-a'), web, hinted]);
    await start();
    await programmed(service(1, [1]));
    await put([inZone('zone-b')]);
    await programmed(service(1, [2]));
    await put([inZone('zone-c')]);
    await programmed(service(1, [1, 2]));

    expect(await listing(node, 'ip')).not.toContain('172.30.0.0/16');
    await put([testServiceCidr]);
    await until('the range is in the rules', rangeShown);
    await api.ask('remove', 'networking.k8s.io/v1', 'ServiceCIDR', 'kubernetes');
    await until('the range is gone', async () => !(await rangeShown()));
  });
});

describe('what it is asked about', () => {
  it('includes Services that are not delivered to it: the API server is asked about them', async () => {
    const labels = { 'service.kubernetes.io/service-proxy-name': 'another' };
    const raw = (name: string, address: string, metadata: object = {}): object => ({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { namespace: 'default', name, ...metadata },
      spec: { clusterIP: address, ports: [{ port: 80 }] },
    });
    await put([...cluster(service(1)), raw('theirs', clusterIP(2), { labels }), raw('db', 'None')]);
    await start();
    await programmed(service(1));
    const explained = async (name: string): Promise<string> =>
      (await Command.run(node, ['explain', `default/${name}`])).stdout;
    expect(await explained('theirs')).toMatch(/^default\/theirs: ok: .* another proxy$/m);
    expect(await explained('db')).toMatch(/^default\/db: ok: it is headless/m);
    expect(await explained('none')).toMatch(
      /^default\/none: error: there is no Service none in namespace default$/m,
    );
    await until('rules of other modes are looked for no more', async () => {
      const { stdout, exitCode } = await Command.run(node, ['status']);
      expect(stdout).toMatch(/^ {2}watch Service: connected, 1 object, last data \d+ s ago$/m);
      return exitCode === 0;
    });
    await api.ask('fail', { status: 503, match: '/namespaces/default/services', times: 1 });
    expect(await explained('db')).toMatch(/^default\/db: warning: .* the API server cannot be queried: /m);
  });
});

describe('the ways to ask', () => {
  it('--master counts before the server of the kubeconfig', async () => {
    await put(cluster(service(1)));
    const url = await api.ask('url');
    const text = await readFile(kubeconfig, 'utf8');
    await writeFile(kubeconfig, text.replace(url, 'https://127.0.0.1:1'));
    await start('--master', url);
    await programmed(service(1));
  });

  it('plan prints what --once programs, and touches nothing; both wait for all objects', async () => {
    await put(cluster(service(1), service(2, [2, 3, 4]), service(3, [])));
    await api.ask('fail', { status: 503, match: '/servicecidrs', times: 1 });
    const planned = await Command.run(node, ['plan', ...flags()]);
    expect(planned).toMatchObject({ exitCode: 0 });
    expect(await namespace.run(['nft', 'list', 'ruleset'])).toBe('');

    await api.ask('fail', { status: 503, match: '/servicecidrs', times: 1 });
    const once = await Command.run(node, flags('--once'));
    expect(once).toMatchObject({ exitCode: 0, stdout: '' });
    const written = contentsOf(await readTable(node));
    expect(await endpoints()).toEqual(expectedEndpoints(service(1), service(2, [2, 3, 4])));
    expect(JSON.stringify(written)).toContain('172.30.0.0/16');

    await namespace.run(['nft', 'flush', 'ruleset']);
    await namespace.run(['nft', '-f', '-'], planned.stdout);
    expect(contentsOf(await readTable(node))).toEqual(written);
  });

  it('--once and plan end when the API server does not answer, and say so', async () => {
    const impatient = await DriverBundle.make(new URL('./impatient-commands.ts', import.meta.url));
    await api.ask('close');
    const runs = [flags('--once'), ['plan', ...flags()]].map((args) =>
      Command.run(node, args, { program: impatient.file }),
    );
    for (const { exitCode, stderr } of await Promise.all(runs)) {
      expect(exitCode).toBe(1);
      expect(stderr).toMatch(/no data from the API server for 1 s.*Service \(.*ECONNREFUSED/);
    }
    await impatient.remove();
  });

  it('a kubeconfig that is not there ends the program, and names the file', async () => {
    const { exitCode, stderr } = await Command.run(node, ['--kubeconfig', '/nonexistent/config']);
    expect(exitCode).toBe(1);
    expect(stderr).toContain('/nonexistent/config');
  });
});
