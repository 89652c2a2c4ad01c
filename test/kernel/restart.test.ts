import { clusterObjects, testConfig } from '../support/testbed/cluster-objects.js';
import { iptablesVariants, NodeIptables } from '../support/testbed/iptables-node.js';
import { ProxyProcess } from '../support/program/proxy-process.js';
import { contentsOf, readTable, RulesetMonitor } from '../support/testbed/ruleset.js';
import { Testbed } from '../support/testbed/testbed.js';
import { askOnce, Backend, errorsOf, OpenConnection, SteadyClient } from '../support/testbed/traffic.js';
import { until } from '../support/until.js';

const web = { what: 'http', dst: '172.30.20.3', port: 80 } as const;
const sticky = { what: 'http', dst: '172.30.20.4', port: 80 } as const;

const http = { name: 'http', protocol: 'TCP', port: 80, targetPort: 8080 } as const;

function objects(endpoints: readonly string[]): string {
  return clusterObjects([
    { name: 'web', clusterIP: web.dst, ports: [{ ...http, nodePort: 30183 }], endpoints },
    { name: 'sticky', clusterIP: sticky.dst, ports: [http], affinitySeconds: 600, endpoints },
    { name: 'empty', clusterIP: '172.30.20.5', ports: [http], endpoints: [] },
  ]);
}

describe('a restart', () => {
  let testbed: Testbed;
  let backends: Backend[];
  let proxy: ProxyProcess;
  let monitor: RulesetMonitor;

  beforeAll(async () => {
    testbed = await Testbed.open();
    backends = await Promise.all(
      [1, 2, 3].map((number) => Backend.start(testbed, `b${number}`, `10.244.1.${10 + number}`)),
    );
    const endpoints = backends.map(({ address }) => address);
    proxy = await ProxyProcess.start({
      host: testbed.node,
      config: testConfig,
      objects: objects(endpoints),
    });
  });
  afterAll(async () => {
    await proxy?.remove();
    await testbed.close();
  });

  beforeEach(async () => {
    monitor = await RulesetMonitor.start(testbed.node);
  });
  afterEach(() => monitor?.stop());

  it.each(['SIGTERM', 'SIGINT', 'SIGKILL'] as const)(
    'after %s with nothing changed writes nothing, and no connection notices',
    async (signal) => {
      const connection = await OpenConnection.open(testbed.pod, web);
      const { body: name } = await connection.ask();
      const stuckTo = await askOnce(testbed.pod, sticky);
      const client = await SteadyClient.start(testbed.pod, web, 20);
      const before = await readTable(testbed.node);

      expect(await proxy.stop(signal)).toBe(signal === 'SIGKILL' ? 'SIGKILL' : 0);
      expect(await readTable(testbed.node)).toEqual(before);
      expect(await connection.ask()).toMatchObject({ body: name, connections: 1 });
      await proxy.startAgain();

      expect(await monitor.written(testbed.node)).toEqual([]);
      expect(await readTable(testbed.node)).toEqual(before);
      expect(await connection.ask()).toMatchObject({ body: name, connections: 1 });
      expect(await askOnce(testbed.pod, sticky)).toBe(stuckTo);
      expect(errorsOf(await client.stop())).toEqual({});
    },
  );

  it('adopts what nft loaded from a listing, and writes nothing', async () => {
    await proxy.stop('SIGTERM');
    const listed = await testbed.node.run(['nft', 'list', 'ruleset']);
    await testbed.node.run(['nft', '-f', '-'], `flush ruleset\n${listed}`);
    await monitor.stop();
    monitor = await RulesetMonitor.start(testbed.node);
    await proxy.startAgain();
    expect(await monitor.written(testbed.node)).toEqual([]);
  });

  it('writes what changed while it was away, and nothing else', async () => {
    await until('chains that nothing needs are gone', async () => {
      expect([...(await readTable(testbed.node)).keys()]).not.toContainEqual(
        expect.stringMatching(/pick-2\b/),
      );
      return true;
    });
    const before = await readTable(testbed.node);
    await proxy.stop('SIGTERM');
    await proxy.place(objects(backends.slice(1).map(({ address }) => address)));
    await proxy.startAgain();
    const written = await monitor.written(testbed.node);
    // For the change, for chains that nothing needs any more, and for the client if it is remembered for the endpoint that is gone.
    const generations = written.filter((line) => line.startsWith('# new generation'));
    expect(generations.length).toBeGreaterThan(0);
    expect(generations.length).toBeLessThanOrEqual(3);
    expect(written.filter((line) => line.startsWith('delete table'))).toEqual([]);
    expect(await askOnce(testbed.pod, sticky)).not.toBe('b1');

    await proxy.change(objects(backends.map(({ address }) => address)));
    await until('the table is as it was', async () => {
      expect(contentsOf(await readTable(testbed.node))).toEqual(contentsOf(before));
      return true;
    });
  });

  it('with a manifest that cannot be read keeps the rules that may be of it, until it can', async () => {
    const connection = await OpenConnection.open(testbed.pod, web);
    const client = await SteadyClient.start(testbed.pod, web, 20);
    await proxy.stop('SIGTERM');
    const endpoints = backends.map(({ address }) => address);
    await proxy.place(
      clusterObjects([
        { name: 'sticky', clusterIP: sticky.dst, ports: [http], affinitySeconds: 600, endpoints },
        { name: 'empty', clusterIP: '172.30.20.5', ports: [http], endpoints: [] },
      ]),
    );
    await proxy.place('kind: Service\n  metadata: [', 'web.yaml');
    await proxy.startAgain();
    expect(await monitor.written(testbed.node)).toEqual([]);
    expect(await connection.ask()).toMatchObject({ connections: 1 });
    expect(errorsOf(await client.stop())).toEqual({});

    await proxy.place('', 'web.yaml');
    await until('what was not in it is gone', async () => {
      expect(await testbed.node.run(['nft', 'list', 'table', 'ip', 'kube-proxy'])).not.toContain(web.dst);
      return true;
    });
    await proxy.change(objects(endpoints));
  });

  it('is quiet while nothing changes', async () => {
    await proxy.place(objects(backends.map(({ address }) => address)));
    for (let i = 0; i < 20; i++) await askOnce(testbed.pod, web);
    expect(await monitor.written(testbed.node)).toEqual([]);
  });
});

describe.each(iptablesVariants)('a restart in iptables mode, over iptables-%s', (variant) => {
  let testbed: Testbed;
  let iptables: NodeIptables;
  let backend: Backend;
  let proxy: ProxyProcess;

  beforeAll(async () => {
    testbed = await Testbed.open();
    iptables = new NodeIptables(testbed.node, variant);
    backend = await Backend.start(testbed, 'b1', '10.244.1.11');
    await iptables.reset();
    proxy = await ProxyProcess.start({
      host: testbed.node,
      mode: 'iptables',
      config: testConfig,
      objects: objects([backend.address]),
    });
  });
  afterAll(async () => {
    await proxy?.remove();
    await testbed.close();
  });

  it('writes nothing with nothing changed, and no connection notices; otherwise what changed', async () => {
    const connection = await OpenConnection.open(testbed.pod, web);
    const client = await SteadyClient.start(testbed.pod, web, 20);
    await iptables.mark('IPv4');
    const before = await iptables.saved('IPv4');
    expect(await proxy.stop('SIGKILL')).toBe('SIGKILL');
    await proxy.startAgain();
    expect(await iptables.written('IPv4')).toEqual([]);
    expect(await iptables.saved('IPv4')).toEqual(before);
    expect(await connection.ask()).toMatchObject({ body: 'b1', connections: 1 });
    expect(errorsOf(await client.stop())).toEqual({});

    await proxy.stop('SIGTERM');
    await proxy.place(objects([backend.address, '10.244.1.99']));
    await proxy.startAgain();
    // Of the services web and sticky: the service's chain, and the new endpoint's.
    const names = await iptables.written('IPv4');
    expect(names).toHaveLength(4);
    for (const name of names) expect(name).toMatch(/^nat KUBE-(SVC|SEP)-/);
    await proxy.change(objects([backend.address]));
  });

  it('with a manifest that cannot be read keeps the rules that may be of it, until it can', async () => {
    const connection = await OpenConnection.open(testbed.pod, web);
    await iptables.mark('IPv4');
    await proxy.stop('SIGTERM');
    await proxy.place(
      clusterObjects([{ name: 'other', clusterIP: '172.30.20.9', ports: [http], endpoints: [] }]),
    );
    await proxy.place('kind: Service\n  metadata: [', 'web.yaml');
    await proxy.startAgain();
    const ofServices = [...(await iptables.chains('IPv4'))].filter(([name]) =>
      /KUBE-(SVC|SEP|EXT)-/.test(name),
    );
    expect(ofServices).not.toEqual([]);
    for (const [, { rules, written }] of ofServices) {
      expect(rules).not.toEqual([]);
      expect(written).toEqual([]);
    }
    expect(await connection.ask()).toMatchObject({ body: 'b1', connections: 1 });
    expect(await askOnce(testbed.pod, web)).toBe('b1');

    await proxy.place('', 'web.yaml');
    await until('what was not in it is gone', async () => {
      const names = [...(await iptables.rules('IPv4')).keys()];
      expect(names.filter((name) => /KUBE-(SVC|SEP|EXT)-/.test(name))).toEqual([]);
      return true;
    });
  });
});
