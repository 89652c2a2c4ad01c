import { parse, stringify } from 'yaml';
import { Command } from '../support/program/command.js';
import { ProxyProcess } from '../support/program/proxy-process.js';
import { clusterObjects, testConfig, type TestService } from '../support/testbed/cluster-objects.js';
import { Testbed } from '../support/testbed/testbed.js';
import type { Host } from '../support/testbed/host.js';
import { errorsOf, OpenConnection, SteadyClient, type Destination } from '../support/testbed/traffic.js';
import { until } from '../support/until.js';

const V4 = ['10.244.1.11', '10.244.1.12'];
const V6 = ['fd00:10:244:1::11', 'fd00:10:244:1::12'];
const NODE = '198.51.100.11';
/** After at most 5 s the proxy tries again to listen. */
const RETRIED = 50_000;
/** An answer may take so long where the machine is busy. */
const PATIENCE = 30_000;

const http = (nodePort: number) =>
  ({ name: 'http', protocol: 'TCP', port: 80, targetPort: 8080, nodePort }) as const;
const dns = { name: 'ask', protocol: 'UDP', port: 53, targetPort: 8080, nodePort: 30080 } as const;
const SERVICES = {
  web: { name: 'web', clusterIP: '172.30.20.11', ports: [http(30080), dns] },
  web6: { name: 'web6', clusterIP: 'fd00:172:30::11', ports: [http(30080)] },
  sticky: { name: 'sticky', clusterIP: '172.30.20.12', ports: [http(30081)], affinitySeconds: 60 },
  taken: { name: 'taken', clusterIP: '172.30.20.13', ports: [http(30082)] },
} as const;
const USUAL = { web: V4, web6: V6, sticky: V4 };

const configured = (nodePortAddresses: readonly string[]): string =>
  stringify({
    ...(parse(testConfig) as object),
    featureGates: { KubeProxyNFTablesLocalhostNodePorts: true },
    nodePortAddresses,
  });

/** The cluster with these Services, each with its endpoints. */
function objects(endpoints: Partial<Record<keyof typeof SERVICES, readonly string[]>>): string {
  return clusterObjects(
    Object.entries(endpoints).map(([name, addresses]): TestService => ({
      ...SERVICES[name as keyof typeof SERVICES],
      endpoints: addresses,
    })),
  );
}

const local = (port: number) => ({ what: 'http', dst: '127.0.0.1', port }) as const;
const local6 = { what: 'http', dst: '[::1]', port: 30080 } as const;

/** The name of the endpoint that answers. */
async function askOnce(client: Host, { dst, port }: Pick<Destination, 'dst' | 'port'>): Promise<string> {
  return (await client.get(`http://${dst}:${port}/`, PATIENCE)).body;
}

/** The names of those that answer some connections, one after the other. */
async function names(client: Host, to: Destination): Promise<ReadonlySet<string>> {
  const seen = new Set<string>();
  for (let asked = 0; asked < 6; asked++) seen.add(await askOnce(client, to));
  return seen;
}

let testbed: Testbed;
let proxy: ProxyProcess | undefined;
const metric = async (name: string): Promise<string | undefined> => {
  const { body } = await testbed.node.get('http://127.0.0.1:10249/metrics', PATIENCE);
  return new RegExp(`^kubeproxy_nftables_localhost_nodeport_${name} (\\d+)$`, 'm').exec(body)?.[1];
};
const start = async (addresses: readonly string[], endpoints: Parameters<typeof objects>[0]) =>
  (proxy = await ProxyProcess.start({
    host: testbed.node,
    config: configured(addresses),
    objects: objects(endpoints),
  }));

beforeAll(async () => {
  testbed = await Testbed.open();
  for (const index of [0, 1]) {
    const pod = await testbed.addPod(`b${index}`, V4[index]!, V6[index]);
    await pod.ask('serve', { name: `b${index}`, port: 8080 });
  }
});
afterAll(() => testbed.close());
afterEach(async () => {
  await proxy?.remove();
  proxy = undefined;
});

describe('with the keyword localhost', () => {
  it('TCP node ports are served on 127.0.0.1 and ::1, beside the other addresses', async () => {
    const { node, pod } = testbed;
    await start(['primary', 'localhost'], USUAL);
    expect(await names(node, local(30080))).toEqual(new Set(['b0', 'b1']));
    expect(await names(node, local6)).toEqual(new Set(['b0', 'b1']));
    expect(['b0', 'b1']).toContain(await askOnce(pod, { ...local(30080), dst: NODE }));
    // An endpoint that a busy machine keeps from answering within 250 ms loses its client.
    await until('a client stays', async () => (await names(node, local(30081))).size === 1);
    await expect(node.ask('udpAsk', { dst: '127.0.0.1', port: 30080 })).rejects.toThrow();
    expect(await metric('listeners{ip_family="IPv4"}')).toBe('2');
    expect(await metric('listeners{ip_family="IPv6"}')).toBe('1');
    const explained = await Command.run(node, ['explain', 'default/web']);
    expect(explained.stdout).toContain('the proxy itself listens on 127.0.0.1:30080');
    const listed = await Command.run(node, ['services', 'web6', '-o', 'json']);
    expect(listed.stdout).toContain('"[::1]:30080/TCP"');
  });

  it('no client is refused while endpoints change, and connections outlive their endpoints and the listener', async () => {
    const { node } = testbed;
    await start(['primary', 'localhost'], { ...USUAL, web: [V4[0]!] });
    const kept = await OpenConnection.open(node, local(30080));
    const client = await SteadyClient.start(node, local(30080), 10, PATIENCE);
    for (const web of [[V4[1]!], V4, [V4[1]!]]) await proxy!.change(objects({ ...USUAL, web }));
    const requests = await client.stop();
    expect([errorsOf(requests), requests.length > 0]).toEqual([{}, true]);
    await until('the new endpoint is used alone', async () => (await askOnce(node, local(30080))) === 'b1');
    expect(await kept.ask(PATIENCE)).toMatchObject({ body: 'b0', connections: 1 });

    await proxy!.change(objects({ ...USUAL, web: [] }));
    const refused = async (): Promise<boolean> =>
      askOnce(node, local(30080)).then(
        () => false,
        (error) => String(error).includes('ECONNREFUSED'),
      );
    await until('the listener is closed', refused);
    expect(await kept.ask(PATIENCE)).toMatchObject({ body: 'b0', connections: 1 });
    await proxy!.change(objects(USUAL));
    await until('it is open again', async () => !(await refused()));
  });

  it('a port that another program has is named, and served once it is free', async () => {
    const { node } = testbed;
    await node.ask('serve', { name: 'another', port: 30082 });
    await start(['primary', 'localhost'], { ...USUAL, taken: [V4[0]!] });
    const problem = 'cannot listen on 127.0.0.1:30082/TCP: another program has the port';
    const status = async () => (await Command.run(node, ['status'])).stdout;
    await until('it is named', async () => (await status()).includes(problem));
    expect(await askOnce(node, local(30082))).toBe('another');
    expect(['b0', 'b1']).toContain(await askOnce(node, local(30080)));
    const explained = await Command.run(node, ['explain', 'default/taken']);
    expect([explained.exitCode, explained.stdout.includes(problem)]).toEqual([1, true]);
    expect(Number(await metric('listener_creation_failures_total{ip_family="IPv4"}'))).toBeGreaterThan(0);

    await node.killAgent();
    const served = () => askOnce(node, local(30082)).catch(() => '');
    await until('it is served', async () => (await served()) === 'b0', RETRIED);
    await until('nothing is named', async () => !(await status()).includes(problem));
    const told = proxy!.log.split('\n').filter((line) => line.includes(problem));
    expect(told.map((line) => (JSON.parse(line) as { caller: string }).caller)).toEqual([
      'event-recorder',
      'service-verdicts',
    ]);
  });

  it('a restart ends connections, and serves again after its first sync', async () => {
    const { node } = testbed;
    await start(['primary', 'localhost'], USUAL);
    const client = await SteadyClient.start(node, local(30080), 10, PATIENCE);
    await until('it is asked', async () => (await askOnce(node, local(30080))) !== '');
    expect(await proxy!.stop('SIGTERM')).toBe(0);
    await proxy!.startAgain();
    await until('it is served', () => askOnce(node, local(30080)).then(Boolean, () => false));
    const requests = await client.stop();
    expect(requests.at(-1)?.error).toBeUndefined();
    const ends = Object.keys(errorsOf(requests)).map((error) =>
      error.replace('http://127.0.0.1:30080/: ', ''),
    );
    // Refused while nobody listens; those under way end with the process. None hangs.
    const isEnd = (error: string): boolean => /ECONNREFUSED|ECONNRESET|socket hang up/.test(error);
    expect([ends.filter((error) => !isEnd(error)), ends.length > 0]).toEqual([[], true]);
  });
});

it('without a list that contains 127.0.0.1 there is no listener', async () => {
  const { node } = testbed;
  await start(['127.0.0.2/32'], USUAL);
  await expect(askOnce(node, local(30080))).rejects.toThrow('ECONNREFUSED');
  await expect(askOnce(node, { ...local(30080), dst: '127.0.0.2' })).rejects.toThrow('ECONNREFUSED');
  await expect(askOnce(node, local6)).rejects.toThrow('ECONNREFUSED');
  expect(await metric('listeners{ip_family="IPv4"}')).toBe('0');
});
