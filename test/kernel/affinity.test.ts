import { setTimeout as sleep } from 'node:timers/promises';
import { clusterObjects, testConfig } from '../support/testbed/cluster-objects.js';
import { ProxyProcess } from '../support/program/proxy-process.js';
import { Testbed } from '../support/testbed/testbed.js';
import { until } from '../support/until.js';
import { askOnce, askTimes, Backend, type Frontend } from '../support/testbed/traffic.js';

const timeoutSeconds = 3;
const viaClusterIP: Frontend = { dst: '172.30.20.2', port: 80 };
const lasting: Frontend = { dst: '172.30.20.3', port: 80 };
const viaNodePort: Frontend = { dst: '198.51.100.11', port: 30182 };

function objects(endpoints: readonly string[], affinitySeconds = timeoutSeconds): string {
  const ports = [{ name: 'http', protocol: 'TCP', port: 80, targetPort: 8080, nodePort: 30182 }] as const;
  return clusterObjects([
    { name: 'sticky', clusterIP: viaClusterIP.dst, ports, affinitySeconds, endpoints },
    {
      name: 'lasting',
      clusterIP: lasting.dst,
      ports: [{ name: 'http', protocol: 'TCP', port: 80, targetPort: 8080 }],
      affinitySeconds: 600,
      endpoints,
    },
  ]);
}

/** Enough clients that what all of them do by chance is no chance: all to keep their endpoint would be 3^-20. */
const clientAddresses = Array.from({ length: 20 }, (_, i) => `198.18.0.${100 + i}`);

describe('session affinity', () => {
  let testbed: Testbed;
  let backends: Backend[];
  let proxy: ProxyProcess;

  beforeAll(async () => {
    testbed = await Testbed.open();
    const addresses = clientAddresses.map((address) => `addr add ${address}/24 dev eth0`);
    await testbed.ext.run(['ip', '-batch', '-'], addresses.join('\n'));
    backends = await Promise.all(
      [1, 2, 3].map((number) => Backend.start(testbed, `b${number}`, `10.244.1.${10 + number}`)),
    );
  });
  afterAll(() => testbed.close());

  beforeEach(async () => {
    await testbed.flushNode();
    const endpoints = backends.map(({ address }) => address);
    proxy = await ProxyProcess.start({
      host: testbed.node,
      config: testConfig,
      objects: objects(endpoints),
    });
  });
  afterEach(() => proxy?.remove());

  const ask = (src: string, frontend: Frontend): Promise<string> =>
    askOnce(testbed.ext, { what: 'http', ...frontend, src });
  const askAll = (frontend: Frontend): Promise<string[]> =>
    Promise.all(clientAddresses.map((src) => ask(src, frontend)));

  it('keeps each client with its endpoint, through cluster IP and node port alike, and spreads the clients', async () => {
    const names = await askAll(viaClusterIP);
    expect([...new Set(names)].sort()).toEqual(['b1', 'b2', 'b3']);
    for (let i = 0; i < 5; i++) {
      expect(await askAll(viaNodePort)).toEqual(names);
      expect(await askAll(viaClusterIP)).toEqual(names);
    }
  });

  it('keeps a pod and the node itself, too', async () => {
    for (const host of [testbed.pod, testbed.node]) {
      expect(new Set(await askTimes(12, host, { what: 'http', ...viaClusterIP })).size).toBe(1);
    }
  });

  it('sends the clients of an endpoint that is gone to living ones, and leaves all others where they are', async () => {
    const before = await askAll(viaClusterIP);
    const gone = backends.find(({ name }) => name === before[0])!;
    const living = backends.filter((backend) => backend !== gone);
    await proxy.change(objects(living.map(({ address }) => address)));
    const after = await askAll(viaNodePort);
    expect(after).not.toContain(gone.name);
    expect(after.filter((_, i) => before[i] !== gone.name)).toEqual(
      before.filter((name) => name !== gone.name),
    );
    expect(await askAll(viaClusterIP)).toEqual(after);
  });

  it('leaves the clients of an endpoint that is gone where they have gone when it comes back', async () => {
    const before = await askAll(lasting);
    const gone = backends.find(({ name }) => name === before[0])!;
    const living = backends.filter((backend) => backend !== gone);
    await proxy.change(objects(living.map(({ address }) => address)));
    await until('the kernel has forgotten them', async () => {
      const set = await testbed.node.run(['nft', 'list', 'set', 'ip', 'kube-proxy', 'affinity']);
      const remembered = clientAddresses.filter((address) => set.includes(` . ${address} `));
      return remembered.length === before.filter((name) => name !== gone.name).length;
    });
    const after = await askAll(lasting);
    expect(after).not.toContain(gone.name);
    await proxy.change(objects(backends.map(({ address }) => address)));
    expect(await askAll(lasting)).toEqual(after);
  });

  it('leaves every client where it is when an endpoint comes', async () => {
    await proxy.change(objects([backends[0]!.address, backends[1]!.address]));
    const before = await askAll(viaClusterIP);
    await proxy.change(objects(backends.map(({ address }) => address).reverse()));
    expect(await askAll(viaClusterIP)).toEqual(before);
  });

  // Kernels before 6.12 do not take a new timeout for an element from a program; they do from a packet.
  it('a new timeout holds for known clients from their next connection on, longer as well as shorter', async () => {
    const endpoints = backends.map(({ address }) => address);
    const names = await askAll(viaClusterIP);
    await proxy.change(objects(endpoints, 600));
    expect(await askAll(viaClusterIP)).toEqual(names);
    await sleep(timeoutSeconds * 1000 + 500);
    expect(await askAll(viaClusterIP)).toEqual(names);
    await proxy.change(objects(endpoints));
    expect(await askAll(viaClusterIP)).toEqual(names);
    await sleep(timeoutSeconds * 1000 + 500);
    expect(await askAll(viaClusterIP)).not.toEqual(names);
  });

  it('counts the timeout from the last new connection, and lets clients move after it', async () => {
    const names = await askAll(viaClusterIP);
    for (let i = 0; i < 3; i++) {
      await sleep((timeoutSeconds * 1000) / 2);
      expect(await askAll(viaNodePort)).toEqual(names);
    }
    await sleep(timeoutSeconds * 1000 + 500);
    expect(await askAll(viaClusterIP)).not.toEqual(names);
  });
});
