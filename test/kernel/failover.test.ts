import { setTimeout as sleep } from 'node:timers/promises';
import { clusterObjects, testConfig } from '../support/testbed/cluster-objects.js';
import type { Host } from '../support/testbed/host.js';
import { ProxyProcess } from '../support/program/proxy-process.js';
import { Testbed } from '../support/testbed/testbed.js';

const PORT = 81;
const FAMILIES = ['IPv4', 'IPv6'] as const;
type Family = (typeof FAMILIES)[number];
type ServiceName = keyof typeof CLUSTER_IPS;

/** Clients of `fails` have an endpoint that falls silent; those of `leaves` one that is taken off, and lives. */
const CLUSTER_IPS = {
  fails: { IPv4: '172.30.20.9', IPv6: 'fd00:30::9' },
  leaves: { IPv4: '172.30.20.10', IPv6: 'fd00:30::10' },
} as const;

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

  /** From now on it swallows every packet, as what is on a node that died. */
  async fallSilent(): Promise<void> {
    const rules =
      'table inet dead { chain silence { type filter hook prerouting priority -300; policy drop; }; }';
    await this.host.run(['nft', '-f', '-'], rules);
  }

  async wake(): Promise<void> {
    await this.host.run(['nft', 'flush', 'ruleset']);
  }
}

describe.each(['nftables', 'iptables'] as const)('clients of endpoints that are gone, mode %s', (mode) => {
  let testbed: Testbed;
  let one: Pod;
  let two: Pod;
  let three: Pod;
  let proxy: ProxyProcess;

  beforeAll(async () => {
    testbed = await Testbed.open();
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
    await one.wake();
    await proxy.change(objects([], []));
    await testbed.node.run(['conntrack', '-F']);
  });

  function objects(fails: readonly Pod[], leaves: readonly Pod[]): string {
    const service = (name: ServiceName, family: Family, pods: readonly Pod[]) => ({
      name: `${name}-${family.toLowerCase()}`,
      clusterIP: CLUSTER_IPS[name][family],
      ports: [{ name: 'tcp', protocol: 'TCP', port: PORT, targetPort: 8080 } as const],
      endpoints: pods.map(({ addresses }) => addresses[family]),
    });
    return clusterObjects(
      FAMILIES.flatMap((family) => [service('fails', family, fails), service('leaves', family, leaves)]),
    );
  }

  function ask<T>(op: string, service: ServiceName, family: Family, more: object = {}): Promise<T> {
    return testbed.pod.ask<T>(op, { dst: CLUSTER_IPS[service][family], port: PORT, ...more });
  }

  async function counted(name: string): Promise<number> {
    const { body } = await testbed.node.get('http://127.0.0.1:10249/metrics');
    return [...body.matchAll(new RegExp(`^kubeproxy_${name}\\{.*\\} (\\d+)$`, 'gm'))].reduce(
      (sum, [, count]) => sum + Number(count),
      0,
    );
  }

  it('a connection that is being opened reaches the endpoint that takes the place of a silent one', async () => {
    const before = await counted('connections_rescued_total');
    await one.fallSilent();
    const connecting = FAMILIES.map((family) =>
      ask<{ ms: number }>('connectOnce', 'fails', family, { timeoutMs: 30_000 }),
    );
    await sleep(500);
    await proxy.change(objects([two], [two]));
    for (const { ms } of await Promise.all(connecting)) expect(ms).toBeLessThan(8_000);
    expect((await counted('connections_rescued_total')) - before).toBe(2);
  });

  it('an established one is reset where the endpoint is silent, and lasts where it lives', async () => {
    const before = await counted('connections_reset_total');
    const dead = await Promise.all(
      FAMILIES.map((family) => ask<{ handle: number }>('openTcp', 'fails', family)),
    );
    const idle = await ask<{ handle: number }>('openTcp', 'leaves', 'IPv4');
    const [slow, paused] = [4 * 1024 * 1024, 32 * 1024 * 1024];
    const transfers = [
      { what: 'download', bytes: slow, everyMs: 300 },
      { what: 'upload', bytes: slow, everyMs: 300 },
      { what: 'download', bytes: paused, clientPausesMs: 20_000 },
      { what: 'upload', bytes: paused, endpointPausesMs: 20_000 },
    ].flatMap((wanted) =>
      FAMILIES.map(async (family) => {
        const { bytes } = await ask<{ bytes: number }>('transfer', 'leaves', family, wanted);
        return { ...wanted, family, arrived: bytes };
      }),
    );
    await sleep(1_500);
    await one.fallSilent();
    await proxy.change(objects([two], [three]));
    const endings = await Promise.all(
      dead.map(({ handle }) =>
        testbed.pod.ask<{ ending: string; ms: number }>('sayUntilEnd', { handle, timeoutMs: 60_000 }),
      ),
    );
    for (const { ending, ms } of endings) {
      expect(ending).toBe('ECONNRESET');
      expect(ms).toBeLessThan(30_000);
    }
    for (const { arrived, bytes, ...which } of await Promise.all(transfers))
      expect({ ...which, arrived }).toEqual({ ...which, arrived: bytes });
    expect(await testbed.pod.ask('sayUntilEnd', { handle: idle.handle, timeoutMs: 10_000 })).toMatchObject({
      ending: 'an answer',
    });
    expect((await counted('connections_reset_total')) - before).toBe(2);
  });
});
