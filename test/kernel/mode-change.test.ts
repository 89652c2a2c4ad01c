import { setTimeout as sleep } from 'node:timers/promises';
import { IP_FAMILIES } from '../../src/domain/net/ip-family.js';
import { clusterObjects, testConfig } from '../support/testbed/cluster-objects.js';
import { HINT_CHAIN, iptablesVariants, NodeIptables } from '../support/testbed/iptables-node.js';
import { sampleOf } from '../support/nightly.js';
import { ProxyProcess, type ModeName } from '../support/program/proxy-process.js';
import { Testbed } from '../support/testbed/testbed.js';
import { Backend, errorsOf, OpenConnection, SteadyClient } from '../support/testbed/traffic.js';
import { until } from '../support/until.js';

const web = { what: 'http', dst: '172.30.20.11', port: 80 } as const;
const nodePort = { what: 'http', dst: '198.51.100.11', port: 30191, src: '198.18.0.50' } as const;
/** Chains that may stay: KUBE-FIREWALL is the kubelet's too, and the hint is its alone. */
const STAYING = ['KUBE-FIREWALL', HINT_CHAIN];

function objects(endpoints: readonly string[]): string {
  const http = {
    name: 'http',
    protocol: 'TCP',
    port: 80,
    targetPort: 8080,
    nodePort: nodePort.port,
  } as const;
  const sctp = { name: 'sctp', protocol: 'SCTP', port: 82, targetPort: 8082, nodePort: 30192 } as const;
  return clusterObjects([
    { name: 'web', clusterIP: web.dst, ports: [http], endpoints },
    { name: 'signals', clusterIP: '172.30.20.12', ports: [sctp], endpoints },
  ]);
}

describe.each(sampleOf(iptablesVariants))('a change between nftables and iptables-%s', (variant) => {
  let testbed: Testbed;
  let iptables: NodeIptables;
  let proxy: ProxyProcess;

  beforeAll(async () => {
    testbed = await Testbed.open();
    iptables = new NodeIptables(testbed.node, variant);
    await iptables.reset();
    const backends = await Promise.all(
      [1, 2, 3].map((number) => Backend.start(testbed, `b${number}`, `10.244.1.${10 + number}`)),
    );
    proxy = await ProxyProcess.start({
      host: testbed.node,
      mode: 'nftables',
      config: testConfig,
      objects: objects(backends.map(({ address }) => address)),
    });
  });
  afterAll(async () => {
    await proxy?.remove();
    await testbed.close();
  });

  /** The modes whose rules are on the node. */
  async function present(): Promise<ModeName[]> {
    const modes: ModeName[] = [];
    const tables = await testbed.node.run(['nft', 'list', 'tables']);
    if (/ kube-proxy$/m.test(tables)) modes.push('nftables');
    const saved = (await Promise.all(IP_FAMILIES.map((family) => iptables.saved(family)))).flat();
    const chains = saved.flatMap((table) => table.chains);
    const ours = chains.filter(({ name }) => name.startsWith('KUBE-') && !STAYING.includes(name));
    const jumps = chains.flatMap(({ rules }) => rules.filter((rule) => /-j KUBE-(?!FIREWALL)/.test(rule)));
    if (ours.length > 0 || jumps.length > 0) modes.push('iptables');
    return modes;
  }

  /** Whether the redirects of mode userspace are on the node. */
  async function hasPortals(): Promise<boolean> {
    const chains = (await iptables.saved('IPv4')).flatMap((table) => table.chains);
    return chains.some(({ name }) => name.startsWith('KUBE-PORTALS'));
  }

  async function restartIn(mode: ModeName): Promise<void> {
    expect(await proxy.stop('SIGTERM')).toBe(0);
    await proxy.startAgain(mode);
  }

  async function onlyRulesOf(mode: ModeName): Promise<void> {
    await until(`only rules of mode ${mode} are there`, async () => {
      expect(await present()).toEqual([mode]);
      return true;
    });
  }

  async function changeTo(mode: ModeName): Promise<void> {
    await restartIn(mode);
    await onlyRulesOf(mode);
  }

  it('loses no connection, there and back, and leaves only rules of the new mode', async () => {
    expect(await present()).toEqual(['nftables']);
    const standing = await OpenConnection.open(testbed.pod, web);
    const { body: name } = await standing.ask();
    for (const mode of ['iptables', 'nftables'] as const) {
      const clients = [
        await SteadyClient.start(testbed.pod, web, 5),
        await SteadyClient.start(testbed.ext, nodePort, 5),
      ];
      await changeTo(mode);
      await sleep(200);
      for (const client of clients) {
        const requests = await client.stop();
        expect(requests.length).toBeGreaterThan(50);
        expect({ mode, errors: errorsOf(requests) }).toEqual({ mode, errors: {} });
      }
      expect(await standing.ask()).toMatchObject({ body: name, connections: 1 });
    }
  });

  it('to mode userspace waits for no port of SCTP, which that never serves, and is ready then', async () => {
    await restartIn('userspace');
    await until('the rules of mode nftables are gone', async () => !(await present()).includes('nftables'));
    expect(proxy.log).not.toContain('keeping any rules of other modes');
    const { stdout } = await proxy.answer('services', 'signals', '-o', 'json');
    expect(stdout).toContain('userspace mode supports TCP and UDP, not SCTP');
    const ready = await testbed.node.run(['curl', '-s', 'http://127.0.0.1:10256/readyz']);
    expect(JSON.parse(ready)).toMatchObject({ ready: true });
    await changeTo('nftables');
  });

  it.each(variant === 'nft' ? (['nftables', 'iptables'] as const) : (['iptables'] as const))(
    'from mode userspace to %s loses none once the new rules are written, though redirects to nowhere are still there',
    async (mode) => {
      await restartIn('userspace');
      await until('mode userspace serves alone', async () => !(await present()).includes('nftables'));
      expect(await hasPortals()).toBe(true);
      await restartIn(mode);
      const clients = [
        await SteadyClient.start(testbed.pod, web, 5),
        await SteadyClient.start(testbed.ext, nodePort, 5),
      ];
      await until('the redirects are gone', async () => !(await hasPortals()));
      await sleep(200);
      for (const client of clients) expect(errorsOf(await client.stop())).toEqual({});
      await onlyRulesOf(mode);
    },
  );
});
