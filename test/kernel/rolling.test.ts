import { setTimeout as sleep } from 'node:timers/promises';
import { clusterObjects, testConfig } from '../support/testbed/cluster-objects.js';
import type { Host } from '../support/testbed/host.js';
import { ProxyProcess } from '../support/program/proxy-process.js';
import { Testbed } from '../support/testbed/testbed.js';
import {
  askOnce,
  askTimes,
  Backend,
  errorsOf,
  OpenConnection,
  SteadyClient,
  type Destination,
  type Request,
} from '../support/testbed/traffic.js';
import { until } from '../support/until.js';

const clusterIP = '172.30.20.1';
const nodeIP = '198.51.100.11';
const viaClusterIP = {
  http: { what: 'http', dst: clusterIP, port: 80 },
  udp: { what: 'udp', dst: clusterIP, port: 81 },
} as const;
const viaNodePort = {
  http: { what: 'http', dst: nodeIP, port: 30180 },
  udp: { what: 'udp', dst: nodeIP, port: 30181 },
} as const;

/** New connections, besides those of clients that ask for something: more than the other nodes ever have. */
const PER_SECOND = 2_000;

function objects(backends: readonly Backend[]): string {
  const ports = [
    { name: 'http', protocol: 'TCP', port: 80, targetPort: 8080, nodePort: 30180 },
    { name: 'echo', protocol: 'UDP', port: 81, targetPort: 8080, nodePort: 30181 },
  ] as const;
  return clusterObjects([
    { name: 'web', clusterIP, ports, endpoints: backends.map(({ address }) => address) },
  ]);
}

describe('clients of real backends', () => {
  let testbed: Testbed;
  let backends: Backend[];
  let proxy: ProxyProcess;
  /** Backends of all tests. */
  let made = 0;
  let clients: { readonly name: string; readonly client: SteadyClient }[];

  beforeAll(async () => {
    testbed = await Testbed.open();
    proxy = await ProxyProcess.start({ host: testbed.node, config: testConfig, objects: objects([]) });
  });
  afterAll(async () => {
    await proxy?.remove();
    await testbed.close();
  });

  beforeEach(async () => {
    clients = [];
    backends = await Promise.all([nextBackend(), nextBackend(), nextBackend()]);
    await proxy.change(objects(backends));
  });
  afterEach(async () => {
    await Promise.all(backends.map((backend) => backend.kill()));
  });

  function nextBackend(): Promise<Backend> {
    made += 1;
    return Backend.start(testbed, `b${made}`, `10.244.1.${10 + made}`);
  }

  async function startClients(): Promise<void> {
    const start = async (
      name: string,
      host: Host,
      destination: Destination,
      everyMs: number,
    ): Promise<void> => {
      clients.push({ name, client: await SteadyClient.start(host, destination, everyMs) });
    };
    await start('HTTP from a pod', testbed.pod, viaClusterIP.http, 5);
    await start('UDP from a pod', testbed.pod, viaClusterIP.udp, 5);
    await start('HTTP from outside', testbed.ext, { ...viaNodePort.http, src: '198.18.0.50' }, 10);
    await start('UDP from outside', testbed.ext, { ...viaNodePort.udp, src: '198.18.0.50' }, 10);
  }

  async function stopClients(): Promise<[string, readonly Request[]][]> {
    return Promise.all(clients.map(async ({ name, client }) => [name, await client.stop()]));
  }

  /** How often flows that the rules would no longer make were removed. */
  async function flowCleanUps(): Promise<number> {
    const { body } = await testbed.node.get('http://127.0.0.1:10249/metrics');
    const pattern = /^kubeproxy_conntrack_reconciler_sync_duration_seconds_count\S* (\d+)$/m;
    return Number(pattern.exec(body)?.[1]);
  }

  const failed = (requests: readonly Request[]): readonly Request[] =>
    requests.filter(({ error }) => error !== undefined);

  it('spreads requests over all endpoints, from a pod, from the node, and from outside', async () => {
    const names = backends.map(({ name }) => name).sort();
    const paths: [Host, Destination][] = [
      [testbed.pod, viaClusterIP.http],
      [testbed.pod, viaNodePort.udp],
      [testbed.node, viaClusterIP.http],
      [testbed.node, viaNodePort.udp],
      [testbed.ext, viaNodePort.http],
      [testbed.ext, { ...viaNodePort.udp, src: '203.0.113.5' }],
    ];
    for (const [client, destination] of paths) {
      expect([...new Set(await askTimes(40, client, destination))].sort()).toEqual(names);
    }
  });

  it('lets a backend reach itself through its own service', async () => {
    await proxy.change(objects([backends[0]!]));
    expect(await askOnce(backends[0]!.host, viaClusterIP.http)).toBe(backends[0]!.name);
  });

  it('fails no request while endpoints are replaced one by one, each taken out before it ends', async () => {
    await startClients();
    await testbed.pod.ask('openings', { ...viaClusterIP.http, perSecond: PER_SECOND });
    await sleep(200);
    for (let i = 0; i < backends.length; i++) {
      const leaving = backends[i]!;
      backends[i] = await nextBackend();
      await proxy.change(objects(backends));
      // A SYN that a full backlog swallowed comes again, and goes elsewhere once the rescue has forgotten it.
      await sleep(300);
      await until('nobody waits in its backlog', async () =>
        /^LISTEN +0 /.test(await leaving.host.run(['ss', '-Hltn', `sport = :${leaving.port}`])),
      );
      await leaving.kill();
      await sleep(50);
    }
    const changed = Date.now();
    await sleep(300);
    const openings = await testbed.pod.ask<{ failed: Readonly<Record<string, number>> }>('endOpenings', {});
    expect(openings.failed).toEqual({});
    const names = backends.map(({ name }) => name).sort();
    for (const [client, requests] of await stopClients()) {
      expect({ client, errors: errorsOf(requests) }).toEqual({ client, errors: {} });
      const late = requests.filter(({ sentAt }) => sentAt > changed).map(({ body }) => body);
      expect({ client, names: [...new Set(late)].sort() }).toEqual({ client, names });
    }
  });

  it('fails no request but those to an endpoint that died before it was taken out', async () => {
    await startClients();
    await sleep(200);
    const outages: { readonly from: number; readonly to: number }[] = [];
    for (const dying of [...backends]) {
      const from = Date.now();
      await dying.kill();
      await sleep(100);
      const cleanUps = await flowCleanUps();
      await proxy.change(objects(backends.filter((backend) => backend !== dying)));
      // Until then, a new UDP socket that happens to get the port of an earlier one is led as that one was.
      await until('the flows of the dead endpoint are gone', async () => (await flowCleanUps()) > cleanUps);
      outages.push({ from, to: Date.now() });
      await sleep(100);
      await dying.startAgain();
      await proxy.change(objects(backends));
    }
    await sleep(200);
    for (const [client, requests] of await stopClients()) {
      const during = ({ sentAt, answeredAt }: Request): boolean =>
        outages.some(({ from, to }) => answeredAt >= from && sentAt <= to);
      expect({ client, failed: failed(requests).filter((request) => !during(request)) }).toEqual({
        client,
        failed: [],
      });
      const answered = requests.filter((request) => during(request) && request.error === undefined);
      expect(answered.length).toBeGreaterThan(0);
      expect(failed(requests).length).toBeGreaterThan(0);
    }
  });

  it('leaves open connections to endpoints that stay alone', async () => {
    const connection = await OpenConnection.open(testbed.pod, viaClusterIP.http);
    const { body: name } = await connection.ask();
    const staying = backends.find((backend) => backend.name === name)!;
    for (let i = 0; i < 3; i++) {
      await proxy.change(objects([staying, await nextBackend()]));
      expect(await connection.ask()).toMatchObject({ body: name, connections: 1 });
    }
  });

  it('moves a UDP client that keeps its socket to a living endpoint when its own goes', async () => {
    const socket = await OpenConnection.open(testbed.pod, viaClusterIP.udp);
    const { body: name } = await socket.ask();
    expect((await socket.ask()).body).toBe(name);
    const living = backends.filter((backend) => backend.name !== name);
    await backends.find((backend) => backend.name === name)!.kill();
    await proxy.change(objects(living));
    let answer = '';
    await until(
      'the socket is answered again',
      async () => {
        answer = (await socket.ask(200)).body;
        return true;
      },
      3000,
    );
    expect(living.map((backend) => backend.name)).toContain(answer);
  });

  it('refuses at once when the last endpoint goes, and serves again when one comes', async () => {
    await proxy.change(objects([]));
    for (const [client, address] of [
      [testbed.pod, viaClusterIP.http],
      [testbed.ext, viaNodePort.http],
    ] as const) {
      let soonest = Infinity;
      for (let attempt = 0; attempt < 5; attempt++) {
        const asked = Date.now();
        await expect(askOnce(client, address)).rejects.toThrow(/ECONNREFUSED/);
        soonest = Math.min(soonest, Date.now() - asked);
      }
      // After a second TCP would ask again: it was the first packet that was refused.
      expect(soonest).toBeLessThan(1000);
    }
    const one = backends[1]!;
    await proxy.change(objects([one]));
    expect(await askTimes(3, testbed.pod, viaClusterIP.http)).toEqual([one.name, one.name, one.name]);
  });
});
