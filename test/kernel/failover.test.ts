import { setTimeout as sleep } from 'node:timers/promises';
import type { IptablesVariant } from '../../src/adapters/iptables/iptables-commands.js';
import { sampleOf } from '../support/nightly.js';
import { clusterObjects, testConfig } from '../support/testbed/cluster-objects.js';
import type { Host } from '../support/testbed/host.js';
import { iptablesVariants, NodeIptables } from '../support/testbed/iptables-node.js';
import { ProxyProcess, type ModeName } from '../support/program/proxy-process.js';
import { fallSilent, wake } from '../support/testbed/death.js';
import { trackedConnections } from '../support/testbed/conntrack.js';
import { SCTP_CLIENT_PORT, SctpHost } from '../support/testbed/sctp.js';
import { Testbed } from '../support/testbed/testbed.js';
import { serviceOfWay, WAYS, type Way } from '../support/testbed/ways.js';
import { until } from '../support/until.js';

const FAMILIES = ['IPv4', 'IPv6'] as const;
type Family = (typeof FAMILIES)[number];

/** A Service with an endpoint that is taken off, and lives. Those of `WAYS` have one that falls silent. */
const LEAVES = { IPv4: '172.30.20.10', IPv6: 'fd00:30::10' } as const;

/** A pod that serves transfers. */
class Pod {
  private constructor(
    readonly host: Host,
    readonly addresses: Readonly<Record<Family, string>>,
  ) {}

  static async start(testbed: Testbed, name: string, number: number): Promise<Pod> {
    const addresses = { IPv4: `10.244.1.${number}`, IPv6: `fd00:10:244:1::${number}` };
    const pod = new Pod(await testbed.addPod(name, addresses.IPv4, addresses.IPv6), addresses);
    await pod.host.ask('serveTransfers', { port: 8080 });
    return pod;
  }
}

const RULES = ['nftables', ...iptablesVariants.map((variant) => `iptables-${variant}` as const)] as const;

describe.each(sampleOf(RULES))('clients of endpoints that are gone, over %s', (rules) => {
  const [mode, variant] = rules.split('-') as [ModeName, IptablesVariant?];
  let testbed: Testbed;
  let one: Pod;
  let two: Pod;
  let three: Pod;
  let proxy: ProxyProcess;

  beforeAll(async () => {
    testbed = await Testbed.open();
    if (variant) await new NodeIptables(testbed.node, variant).reset();
    [one, two, three] = await Promise.all([
      Pod.start(testbed, 'b1', 11),
      Pod.start(testbed, 'b2', 12),
      Pod.start(testbed, 'b3', 13),
    ]);
    proxy = await ProxyProcess.start({
      host: testbed.node,
      mode,
      config: testConfig,
      objects: objects([], []),
    });
  });
  afterAll(async () => {
    await proxy?.remove();
    await testbed.close();
  });
  beforeEach(() => proxy.change(objects([one], [two])));
  afterEach(async () => {
    await wake(one.host);
    await proxy.change(objects([], []));
    await testbed.node.run(['conntrack', '-F']);
  });

  function objects(fails: readonly Pod[], leaves: readonly Pod[]): string {
    const leaving = (family: Family) => ({
      name: `leaves-${family.toLowerCase()}`,
      clusterIP: LEAVES[family],
      ports: [
        { name: 'tcp', protocol: 'TCP', port: 80, targetPort: 8080 },
        { name: 'sctp', protocol: 'SCTP', port: 82, targetPort: 8080 },
      ] as const,
      endpoints: leaves.map(({ addresses }) => addresses[family]),
    });
    const failing = fails.flatMap(({ addresses }) => Object.values(addresses));
    return clusterObjects([...FAMILIES.map(leaving), ...WAYS.map((way) => serviceOfWay(way, failing))]);
  }

  const clientOf = ({ client }: Way): Host => (client === 'endpoint' ? one.host : testbed[client]);

  function askLeaving<T>(op: string, family: Family, more: object = {}): Promise<T> {
    return testbed.pod.ask<T>(op, { dst: LEAVES[family], port: 80, ...more });
  }

  async function counted(name: string): Promise<number> {
    const { body } = await testbed.node.get('http://127.0.0.1:10249/metrics');
    return [...body.matchAll(new RegExp(`^kube_proxy_ts_${name}\\{.*\\} (\\d+)$`, 'gm'))].reduce(
      (sum, [, count]) => sum + Number(count),
      0,
    );
  }

  /** The endpoints of the associations to the Service of SCTP. */
  async function associationsTo(family: Family): Promise<readonly string[]> {
    return (await trackedConnections(testbed.node))
      .filter(({ proto, original }) => proto === 'sctp' && original.dst === LEAVES[family])
      .map(({ reply }) => reply.src);
  }

  const toService = (family: Family) => ({ dst: LEAVES[family], port: 82, sourcePort: SCTP_CLIENT_PORT });

  it('a connection that is being opened reaches the endpoint that takes the place of a silent one', async () => {
    const before = await counted('stale_connections_deleted_total');
    await fallSilent(one.host);
    const connecting = WAYS.map(async (way) => {
      const { dst, port, name } = way;
      const { ms } = await clientOf(way).ask<{ ms: number }>('connectOnce', {
        dst,
        port,
        timeoutMs: 30_000,
      });
      return { name, isSoon: ms < 8_000 };
    });
    await until('every connection is being opened', async () => {
      const tracked = await trackedConnections(testbed.node);
      return WAYS.every(({ dst, port }) =>
        tracked.some(({ original }) => original.dst === dst && original.dport === String(port)),
      );
    });
    await sleep(500);
    await proxy.change(objects([two], [two]));
    expect(await Promise.all(connecting)).toEqual(WAYS.map(({ name }) => ({ name, isSoon: true })));
    expect((await counted('stale_connections_deleted_total')) - before).toBe(WAYS.length);
  });

  it('an association of SCTP that is being opened does so, too', async () => {
    const to = associationsTo;
    // The kernel by itself forgets such associations after seconds.
    for (const state of ['closed', 'cookie_wait'])
      await testbed.node.run(['sysctl', '-w', `net.netfilter.nf_conntrack_sctp_timeout_${state}=300`]);
    const client = await SctpHost.start(testbed.pod);
    await fallSilent(two.host);
    try {
      for (const family of FAMILIES) await client.send('init', toService(family));
      for (const family of FAMILIES) expect(await to(family)).toEqual([two.addresses[family]]);
      await proxy.change(objects([one], [three]));
      await until('the associations are forgotten', async () =>
        (await Promise.all(FAMILIES.map(to))).every((places) => places.length === 0),
      );
      for (const family of FAMILIES) await client.send('init', toService(family));
      for (const family of FAMILIES) expect(await to(family)).toEqual([three.addresses[family]]);
    } finally {
      await client.stop();
      await wake(two.host);
    }
  });

  it('an established association stays with an endpoint that answers, and leaves one that is silent', async () => {
    const [client, endpoint] = await Promise.all([SctpHost.start(testbed.pod), SctpHost.start(two.host)]);
    const toClient = (family: Family) => ({
      dst: family === 'IPv4' ? '10.244.1.200' : 'fd00:10:244:1::200',
      port: SCTP_CLIENT_PORT,
      sourcePort: 8080,
    });
    // One after the other: all packets of a host have one source port.
    const both = async (chunk: 'init' | 'cookie echo' | 'heartbeat') => {
      for (const family of FAMILIES) await client.send(chunk, toService(family));
    };
    const answer = async (chunk: 'init ack' | 'cookie ack' | 'heartbeat ack') => {
      for (const family of FAMILIES) await endpoint.send(chunk, toClient(family));
    };
    try {
      await both('init');
      await answer('init ack');
      await both('cookie echo');
      await answer('cookie ack');
      await proxy.change(objects([one], [three]));
      for (let second = 0; second < 10; second++) {
        await both('heartbeat');
        await answer('heartbeat ack');
        await sleep(1_000);
      }
      for (const family of FAMILIES) expect(await associationsTo(family)).toEqual([two.addresses[family]]);
      const before = await counted('connections_reset_total');
      await until('the associations go to the endpoint that serves', async () => {
        await both('heartbeat');
        for (const family of FAMILIES)
          expect(await associationsTo(family)).toEqual([three.addresses[family]]);
        return true;
      });
      expect((await counted('connections_reset_total')) - before).toBe(2);
    } finally {
      await Promise.all([client.stop(), endpoint.stop()]);
    }
  });

  it('an established one is reset where the endpoint is silent, and lasts where it lives', async () => {
    const before = await counted('connections_reset_total');
    const dead = await Promise.all(
      WAYS.map(async (way) => {
        const { dst, port } = way;
        const { handle } = await clientOf(way).ask<{ handle: number }>('openTcp', { dst, port });
        return { way, handle };
      }),
    );
    const idle = await askLeaving<{ handle: number }>('openTcp', 'IPv4');
    const [slow, paused] = [4 * 1024 * 1024, 32 * 1024 * 1024];
    const transfers = [
      { what: 'download', bytes: slow, everyMs: 300 },
      { what: 'upload', bytes: slow, everyMs: 300 },
      { what: 'download', bytes: paused, clientPausesMs: 20_000 },
      { what: 'upload', bytes: paused, endpointPausesMs: 20_000 },
    ].flatMap((wanted) =>
      FAMILIES.map(async (family) => {
        const { bytes } = await askLeaving<{ bytes: number }>('transfer', family, wanted);
        return { ...wanted, family, arrived: bytes };
      }),
    );
    await sleep(1_500);
    await fallSilent(one.host);
    await proxy.change(objects([two], [three]));
    const endings = await Promise.all(
      dead.map(async ({ way, handle }) => {
        const request = { handle, timeoutMs: 60_000 };
        const { ending, ms } = await clientOf(way).ask<{ ending: string; ms: number }>(
          'sayUntilEnd',
          request,
        );
        return { name: way.name, ending, isSoon: ms < 30_000 };
      }),
    );
    expect(endings).toEqual(WAYS.map(({ name }) => ({ name, ending: 'ECONNRESET', isSoon: true })));
    for (const { arrived, bytes, ...which } of await Promise.all(transfers))
      expect({ ...which, arrived }).toEqual({ ...which, arrived: bytes });
    expect(await testbed.pod.ask('sayUntilEnd', { handle: idle.handle, timeoutMs: 10_000 })).toMatchObject({
      ending: 'an answer',
    });
    expect((await counted('connections_reset_total')) - before).toBe(WAYS.length);
  });
});
