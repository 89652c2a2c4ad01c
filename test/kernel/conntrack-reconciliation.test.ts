import { sampleOf } from '../support/nightly.js';
import { clusterObjects, testConfig, type TestService } from '../support/testbed/cluster-objects.js';
import { trackedConnections, type TrackedConnection } from '../support/testbed/conntrack.js';
import type { Host } from '../support/testbed/host.js';
import { ProxyProcess } from '../support/program/proxy-process.js';
import { Testbed } from '../support/testbed/testbed.js';
import { Backend, OpenConnection, type Frontend } from '../support/testbed/traffic.js';
import { until } from '../support/until.js';

const clusterIP = { dst: '172.30.20.9', port: 81 };
const nodePort = { dst: '198.51.100.11', port: 30189 };
/** Also the address of the outside host, so that it answers without a service too. */
const externalIP = { dst: '198.18.0.50', port: 81 };
const otherClusterIP = { dst: '172.30.20.10', port: 81 };

const unused = { name: 'unused', protocol: 'TCP', port: 9, targetPort: 9 } as const;

describe.each(sampleOf(['nftables', 'iptables'] as const))('stale UDP flows, mode %s', (mode) => {
  let testbed: Testbed;
  let one: Backend;
  let two: Backend;
  let proxy: ProxyProcess;
  /** Where this test's part of the log begins. */
  let logged: number;

  beforeAll(async () => {
    testbed = await Testbed.open();
    one = await Backend.start(testbed, 'b1', '10.244.1.11');
    two = await Backend.start(testbed, 'b2', '10.244.1.12');
    proxy = await ProxyProcess.start({
      host: testbed.node,
      mode,
      config: `${testConfig}\nlogging: {verbosity: 2}\n`,
      objects: objects([]),
    });
  });
  afterAll(async () => {
    await proxy?.remove();
    await testbed.close();
  });
  beforeEach(async () => {
    await testbed.node.run(['conntrack', '-F']);
    await proxy.change(objects([one]));
    logged = proxy.log.length;
  });
  afterEach(() => proxy.change(objects([])));

  function objects(backends: readonly Backend[], more: Partial<TestService> = {}): string {
    const tcp = { name: 'http', protocol: 'TCP', port: 81, targetPort: 8080, nodePort: 30189 } as const;
    const udp = { ...tcp, name: 'echo', protocol: 'UDP' } as const;
    const endpoints = backends.map(({ address }) => address);
    return clusterObjects([
      {
        name: 'echo',
        clusterIP: clusterIP.dst,
        ports: [tcp, udp],
        externalIPs: [externalIP.dst],
        endpoints,
        ...more,
      },
      {
        name: 'other',
        clusterIP: otherClusterIP.dst,
        ports: [{ ...withoutNodePort(udp) }],
        endpoints: ['10.244.1.11'],
      },
    ]);
  }

  function openUdp(client: Host, to: Frontend): Promise<OpenConnection> {
    return OpenConnection.open(client, { what: 'udp', ...to });
  }

  async function flowsTo({ dst, port }: Frontend, proto = 'udp'): Promise<TrackedConnection[]> {
    const all = await trackedConnections(testbed.node);
    return all.filter(
      (flow) => flow.proto === proto && flow.original.dst === dst && flow.original.dport === String(port),
    );
  }

  async function allGone(...frontends: readonly Frontend[]): Promise<void> {
    await until(
      'the flows are gone',
      async () => (await Promise.all(frontends.map((frontend) => flowsTo(frontend)))).flat().length === 0,
      3000,
    );
  }

  /** Until the reconciliation that a change sets going has certainly been, seen by a flow that it takes along. */
  async function reconciledAfter(change: () => Promise<void>): Promise<void> {
    await change();
    await until(
      'stale flows were removed',
      async () => /removed stale UDP flows/.test(proxy.log.slice(logged)),
      3000,
    );
  }

  it('moves clients of every frontend to an endpoint that is there', async () => {
    const sockets = [
      await openUdp(testbed.pod, clusterIP),
      await openUdp(testbed.ext, nodePort),
      await openUdp(testbed.pod, externalIP),
      await openUdp(testbed.node, clusterIP),
    ];
    for (const socket of sockets) expect((await socket.ask()).body).toBe('b1');
    await proxy.change(objects([two]));
    for (const socket of sockets) {
      await until('it moves', async () => (await socket.ask(200)).body === 'b2', 3000);
    }
  });

  it('leaves alone what stays right: flows to endpoints that stay, other services, TCP, strangers', async () => {
    await proxy.change(objects([one, two]));
    const sockets = await Promise.all(
      Array.from({ length: 12 }, async () => openUdp(testbed.pod, clusterIP)),
    );
    const names = [];
    for (const socket of sockets) names.push((await socket.ask()).body);
    expect(new Set(names)).toEqual(new Set(['b1', 'b2']));
    const other = await openUdp(testbed.pod, otherClusterIP);
    await other.ask();
    const http = await OpenConnection.open(testbed.pod, { what: 'http', ...clusterIP });
    const { body: holder } = await http.ask();
    // A host outside, on the number of the node port.
    const stranger = { dst: '198.18.0.50', port: nodePort.port };
    await testbed.ext.ask('serve', { name: 'stranger', port: nodePort.port });
    const outside = await openUdp(testbed.pod, stranger);
    expect((await outside.ask()).body).toBe('stranger');
    const key = ({ original, reply }: TrackedConnection) => `${original.sport} ${reply.src}`;
    const before = (await flowsTo(clusterIP)).map(key).filter((text) => text.endsWith(two.address));

    await reconciledAfter(() => proxy.change(objects([two])));

    await until(
      'the flows of the first are gone',
      async () => (await flowsTo(clusterIP)).every(({ reply }) => reply.src === two.address),
      3000,
    );
    expect((await flowsTo(clusterIP)).map(key).sort()).toEqual(before.sort());
    expect(await flowsTo(otherClusterIP)).toHaveLength(1);
    expect(await flowsTo(stranger)).toHaveLength(1);
    expect(await flowsTo(clusterIP, 'tcp')).not.toEqual([]);
    expect(await http.ask()).toMatchObject({ body: holder, connections: 1 });
  });

  it('refuses clients of a service that is scaled to zero, and serves them again', async () => {
    const sockets = [await openUdp(testbed.pod, clusterIP), await openUdp(testbed.ext, nodePort)];
    for (const socket of sockets) await socket.ask();
    await proxy.change(objects([]));
    await allGone(clusterIP, nodePort);
    for (const socket of sockets) await expect(socket.ask()).rejects.toThrow(/ECONNREFUSED/);
    await proxy.change(objects([two]));
    for (const socket of sockets) expect((await socket.ask()).body).toBe('b2');
  });

  it('forgets the flows of a service that is deleted, and of no other', async () => {
    const other = await openUdp(testbed.pod, otherClusterIP);
    await other.ask();
    for (const frontend of [clusterIP, nodePort, externalIP])
      await (await openUdp(testbed.pod, frontend)).ask();
    await proxy.change(
      objects([one], { name: 'renamed', clusterIP: '172.30.20.11', ports: [unused], externalIPs: [] }),
    );
    await allGone(clusterIP, nodePort, externalIP);
    expect(await flowsTo(otherClusterIP)).toHaveLength(1);
  });

  it('forgets the flows of a frontend that is removed, and keeps those of the others', async () => {
    for (const frontend of [clusterIP, nodePort, externalIP])
      await (await openUdp(testbed.pod, frontend)).ask();
    const udp = { name: 'echo', protocol: 'UDP', port: 81, targetPort: 8080, nodePort: 30190 } as const;
    await proxy.change(objects([one], { ports: [udp], externalIPs: [] }));
    await allGone(nodePort, externalIP);
    expect(await flowsTo(clusterIP)).toHaveLength(1);
    await proxy.change(objects([one], { ports: [{ ...udp, port: 82 }], externalIPs: [] }));
    await allGone(clusterIP);
  });

  it('ends flows that a new traffic policy or new source ranges do not make, and no others', async () => {
    const balanced = { loadBalancerIPs: ['203.0.113.99'] };
    const balancer = { dst: '203.0.113.99', port: 81 };
    await proxy.change(objects([one], balanced));
    const outside = await openUdp(testbed.ext, nodePort);
    const inside = await openUdp(testbed.pod, clusterIP);
    const own = await openUdp(testbed.node, nodePort);
    const sockets = [outside, inside, own, await openUdp(testbed.ext, balancer)];
    for (const socket of sockets) expect((await socket.ask()).body).toBe('b1');
    const fromOutside = async () =>
      (await flowsTo(nodePort)).filter(({ original }) => original.src === '198.18.0.50');
    const [masqueraded] = await fromOutside();
    expect(masqueraded!.reply.dst).not.toBe('198.18.0.50');
    const kept = [...(await flowsTo(clusterIP)), ...(await flowsTo(nodePort))].filter(
      ({ original }) => original.src !== '198.18.0.50',
    );
    await proxy.change(objects([one], { ...balanced, externalTrafficPolicy: 'Local' }));
    await until('the flow from outside shows its client', async () => {
      expect((await outside.ask(300)).body).toBe('b1');
      expect((await fromOutside()).map(({ reply }) => reply.dst)).toEqual(['198.18.0.50']);
      return true;
    });
    expect(await flowsTo(clusterIP)).toEqual(kept.slice(0, 1));
    expect(await flowsTo(nodePort)).toEqual(expect.arrayContaining(kept.slice(1)));
    const allowed = await openUdp(testbed.ext, balancer);
    expect((await allowed.ask()).body).toBe('b1');
    await proxy.change(
      objects([one], {
        ...balanced,
        ...{ externalTrafficPolicy: 'Local', loadBalancerSourceRanges: ['192.0.2.0/24'] },
      }),
    );
    await allGone(balancer);
    expect((await outside.ask()).body).toBe('b1');
  });

  it('translates a client that was there before the service', async () => {
    await proxy.change(objects([one], { externalIPs: [] }));
    await testbed.ext.ask('serve', { name: 'outside', port: externalIP.port });
    const socket = await openUdp(testbed.pod, externalIP);
    expect((await socket.ask()).body).toBe('outside');
    await proxy.change(objects([one]));
    // A packet now could be answered by the host after its flow is removed, and the answer would make a flow of its own.
    await allGone(externalIP);
    expect((await socket.ask()).body).toBe('b1');
  });

  it('at a restart removes what went stale meanwhile, and nothing that is right', async () => {
    await proxy.change(objects([one, two]));
    const sockets = await Promise.all(
      Array.from({ length: 12 }, async () => openUdp(testbed.pod, clusterIP)),
    );
    for (const socket of sockets) await socket.ask();
    const before = await flowsTo(clusterIP);
    await proxy.stop();
    await proxy.place(objects([two]));
    expect(await flowsTo(clusterIP)).toEqual(before);
    await proxy.startAgain();
    const right = before.filter(({ reply }) => reply.src === two.address);
    expect(right.length).toBeGreaterThan(0);
    await until(
      'only right flows are left',
      async () => (await flowsTo(clusterIP)).length === right.length,
      3000,
    );
    const byPort = (one: TrackedConnection, other: TrackedConnection) =>
      Number(one.original.sport) - Number(other.original.sport);
    expect((await flowsTo(clusterIP)).sort(byPort)).toEqual([...right].sort(byPort));
  });

  it('before --once ends, the flows of a service that was deleted meanwhile are forgotten, by what its rules tell', async () => {
    for (const frontend of [clusterIP, nodePort, externalIP])
      await (await openUdp(testbed.pod, frontend)).ask();
    const other = await openUdp(testbed.pod, otherClusterIP);
    await other.ask();
    await proxy.stop();
    await proxy.place(
      objects([one], { name: 'renamed', clusterIP: '172.30.20.11', ports: [unused], externalIPs: [] }),
    );
    expect(await flowsTo(clusterIP)).toHaveLength(1);
    await proxy.once();
    for (const frontend of [clusterIP, nodePort, externalIP]) expect(await flowsTo(frontend)).toEqual([]);
    expect(await flowsTo(otherClusterIP)).toHaveLength(1);
    await proxy.startAgain();
  });

  it('counts what it removes', async () => {
    const counted = async (what: string): Promise<number> => {
      const { body } = await testbed.node.get('http://127.0.0.1:10249/metrics');
      const pattern = new RegExp(
        `^kubeproxy_conntrack_reconciler_${what}\\{ip_family="IPv4"\\} (\\d+)$`,
        'm',
      );
      return Number(pattern.exec(body)?.[1] ?? 0);
    };
    const [deleted, times] = ['deleted_entries_total', 'sync_duration_seconds_count'] as const;
    await (await openUdp(testbed.pod, clusterIP)).ask();
    const before = { deleted: await counted(deleted), times: await counted(times) };
    await reconciledAfter(() => proxy.change(objects([two])));
    expect((await counted(deleted)) - before.deleted).toBe(1);
    expect(await counted(times)).toBeGreaterThan(before.times);
  });
});

function withoutNodePort<Port extends { readonly nodePort?: number }>({ nodePort: _, ...port }: Port) {
  return port;
}
