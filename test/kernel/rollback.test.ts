import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { stringify } from 'yaml';
import { ProxyProcess } from '../support/program/proxy-process.js';
import { contentsOf, readTable, RulesetMonitor } from '../support/testbed/ruleset.js';
import { Testbed } from '../support/testbed/testbed.js';
import { Backend, errorsOf, SteadyClient } from '../support/testbed/traffic.js';

const cart = { what: 'http', dst: '10.96.77.1', port: 80 } as const;
const cartFromOutside = { what: 'http', dst: '203.0.113.9', port: 80, src: '203.0.113.5' } as const;
const families = ['ip', 'ip6'] as const;

/** What was recorded (test/conformance/rollback): kube-proxy's first transactions, for these objects. */
const recorded = (name: string): Promise<string> =>
  readFile(new URL(`../conformance/rollback/${name}`, import.meta.url), 'utf8');

/**
 * A layout that no release has: all endpoints in one map, none of the usual maps, and hooks of its own.
 * @param policy of a chain that accepts all packets by a rule
 */
const flatLayout = (policy: 'accept' | 'drop'): string => `
table ip kube-proxy {
  map endpoints-tcp {
    type ipv4_addr . inet_service . mark : ipv4_addr . inet_service
    elements = { ${[cart.dst, cartFromOutside.dst]
      .flatMap((address) =>
        ['10.244.1.10', '10.244.2.11'].map(
          (endpoint, slot) => `${address} . 80 . ${slot} : ${endpoint} . 8080`,
        ),
      )
      .join(', ')} }
  }
  set cluster-ips { type ipv4_addr . inet_service; }
  chain lb-2-endpoints {
    meta mark set numgen random mod 2
    dnat ip to ip daddr . tcp dport . meta mark map @endpoints-tcp
  }
  chain services { type nat hook prerouting priority -99; ip protocol tcp goto lb-2-endpoints; }
  chain services-of-node { type nat hook output priority -99; ip protocol tcp goto lb-2-endpoints; }
  chain guard { type filter hook forward priority 1; policy ${policy}; accept; }
}
table ip6 kube-proxy {
  map endpoints-tcp { type ipv6_addr . inet_service : ipv6_addr . inet_service; }
  chain guard { type filter hook forward priority 1; policy ${policy}; accept; }
}
`;

/** As kube-proxy was configured for the recording. */
const config = stringify({
  apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
  kind: 'KubeProxyConfiguration',
  hostnameOverride: 'clnode1',
  clusterCIDR: '10.244.0.0/16',
  conntrack: { maxPerCore: 0, min: 0, tcpEstablishedTimeout: '0s', tcpCloseWaitTimeout: '0s' },
});

/** With a port that no API server takes in the Service of that address. */
function withBrokenService(objects: string, clusterIP: string): string {
  const list = JSON.parse(objects) as { items: { spec?: { clusterIP?: string; ports?: unknown[] } }[] };
  for (const { spec } of list.items)
    if (spec?.clusterIP === clusterIP) spec.ports = [{ name: 'broken', port: 'eighty' }];
  return JSON.stringify(list);
}

describe('a node in mode nftables', () => {
  let testbed: Testbed;
  let proxy: ProxyProcess;
  let clients: SteadyClient[];
  /** Where this test's part of the log begins. */
  let logged: number;

  beforeAll(async () => {
    testbed = await Testbed.open();
    await Promise.all([
      Backend.start(testbed, 'b1', '10.244.1.10'),
      Backend.start(testbed, 'b2', '10.244.2.11'),
    ]);
    proxy = await ProxyProcess.start({
      host: testbed.node,
      config,
      objects: await recorded('objects.json'),
    });
  });
  afterAll(async () => {
    await proxy?.remove();
    await testbed.close();
  });

  beforeEach(async () => {
    logged = proxy.log.length;
    clients = [
      await SteadyClient.start(testbed.pod, cart, 5),
      await SteadyClient.start(testbed.ext, cartFromOutside, 5),
    ];
  });

  const present = async () =>
    Promise.all(families.map(async (family) => contentsOf(await readTable(testbed.node, family))));

  async function expectNothingLost(): Promise<void> {
    await sleep(200);
    for (const client of clients) {
      const requests = await client.stop();
      expect(requests.length).toBeGreaterThan(50);
      expect(errorsOf(requests)).toEqual({});
    }
  }

  /** Starts the proxy; it replaces what is there by one transaction for each family, and its table is as it was before. */
  async function expectReplacement(before: object): Promise<void> {
    const monitor = await RulesetMonitor.start(testbed.node);
    await proxy.startAgain();
    const written = await monitor.written(testbed.node);
    await monitor.stop();
    expect(written.filter((line) => line.startsWith('# new generation'))).toHaveLength(families.length);
    expect(await present()).toEqual(before);
    expect(proxy.log.slice(logged)).toContain('another layout');
  }

  it('goes back to kube-proxy, and to this proxy again, and loses no connection', async () => {
    const before = await present();
    await proxy.stop();
    for (const family of families)
      await testbed.node.run(['nft', '-f', '-'], await recorded(`kube-proxy-start-${family}.nft`));
    await sleep(200);

    const mixed = await present();
    await testbed.sink.run(['nft', 'flush', 'ruleset']);
    for (const [at, family] of families.entries()) {
      await testbed.sink.run(['nft', '-f', '-'], await recorded(`kube-proxy-start-${family}.nft`));
      const theirs = contentsOf(await readTable(testbed.sink, family));
      expect(mixed[at]).toMatchObject(theirs);
      // Packets meet kube-proxy's rules alone: its chains lead to no other, and no other is hooked.
      const others = Object.entries(mixed[at]!).filter(([name]) => !(name in theirs));
      expect(JSON.stringify(others)).not.toContain(' hook ');
    }
    await expectReplacement(before);
    await expectNothingLost();
  });

  it('keeps what kube-proxy serves of a Service whose manifest is broken, and loses no connection', async () => {
    const before = await present();
    await proxy.stop();
    for (const family of families)
      await testbed.node.run(['nft', '-f', '-'], await recorded(`kube-proxy-start-${family}.nft`));
    const objects = await recorded('objects.json');
    await proxy.place(withBrokenService(objects, cart.dst));
    await proxy.startAgain();
    await sleep(1_500);

    const mixed = await readTable(testbed.node, 'ip');
    const [left, ours] = ['map service-ips', 'map frontends'].map((name) => mixed.get(name)!.elements.join());
    expect(left).toContain(cart.dst);
    expect(ours).not.toContain(cart.dst);
    expect(left).not.toContain('10.96.0.1 ');
    expect(ours).toContain('10.96.0.1 ');
    expect(proxy.log.slice(logged)).toContain('keeping rules of kube-proxy');

    await proxy.change(objects);
    await sleep(1_500);
    expect(await present()).toEqual(before);
    await expectNothingLost();
  });

  it.each([
    ['drop', 'as a whole'],
    ['accept', 'piece by piece'],
  ] as const)(
    'replaces a layout of kube-proxy that it does not know, with policy %s: %s, and loses no connection',
    async (policy, how) => {
      const before = await present();
      await proxy.stop();
      const anew = families.map((family) => `delete table ${family} kube-proxy\n`).join('');
      await testbed.node.run(['nft', '-f', '-'], anew + flatLayout(policy));
      await sleep(200);
      if (how === 'as a whole') await expectReplacement(before);
      else {
        await proxy.startAgain();
        expect(await present()).toEqual(before);
      }
      await expectNothingLost();
    },
  );

  it('replaces the layout of former versions, and loses no connection', async () => {
    const before = await present();
    await proxy.stop();
    const anew = families.map((family) => `delete table ${family} kube-proxy\n`).join('');
    await testbed.node.run(['nft', '-f', '-'], anew + (await recorded('former-layout.nft')));
    await sleep(200);
    await expectReplacement(before);
    await expectNothingLost();
  });
});
