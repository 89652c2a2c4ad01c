import { setTimeout as sleep } from 'node:timers/promises';
import { savedRules, type SavedTables } from '../../src/domain/iptables/saved-tables.js';
import { USERSPACE_BASE_RULES } from '../../src/domain/userspace/portals.js';
import { sampleOf } from '../support/nightly.js';
import { clusterObjects, testConfig, type TestService } from '../support/testbed/cluster-objects.js';
import { Command } from '../support/program/command.js';
import { iptablesVariants, NodeIptables } from '../support/testbed/iptables-node.js';
import { ProxyProcess } from '../support/program/proxy-process.js';
import { Testbed } from '../support/testbed/testbed.js';
import { askOnce, askTimes, Backend, OpenConnection } from '../support/testbed/traffic.js';
import { until } from '../support/until.js';

const NODE = '198.51.100.11';
const tcp = (port: number, nodePort?: number) =>
  ({ name: 'http', protocol: 'TCP', port, targetPort: 8080, ...(nodePort && { nodePort }) }) as const;
const udp = { name: 'ask', protocol: 'UDP', port: 53, targetPort: 8080 } as const;

const WEB = {
  name: 'web',
  clusterIP: '172.30.20.11',
  ports: [tcp(80, 30080)],
  externalIPs: ['203.0.113.77'],
  loadBalancerIPs: ['192.0.2.77'],
};
const DNS = { name: 'dns', clusterIP: '172.30.20.12', ports: [udp] };
const STICKY = { name: 'sticky', clusterIP: '172.30.20.13', ports: [tcp(80)], affinitySeconds: 60 };
const web = { what: 'http', dst: WEB.clusterIP, port: 80 } as const;
const dns = { what: 'udp', dst: DNS.clusterIP, port: 53 } as const;
const sticky = { what: 'http', dst: STICKY.clusterIP, port: 80 } as const;

let testbed: Testbed;
let proxy: ProxyProcess | undefined;
beforeAll(async () => {
  testbed = await Testbed.open();
});
afterAll(() => testbed.close());
beforeEach(() => testbed.flushNode());
afterEach(async () => {
  await proxy?.remove();
  proxy = undefined;
});

async function startProxy(services: readonly TestService[], config = testConfig): Promise<ProxyProcess> {
  const host = testbed.node;
  const objects = clusterObjects(services);
  proxy = await ProxyProcess.start({ host, mode: 'userspace', config, objects });
  return proxy;
}

interface UnservedLine {
  readonly level: string;
  readonly service: string;
  readonly cause: string;
  readonly reason: string;
  readonly nextStep: string;
}

/** The lines about Services that do not work on this node. */
function unservedIn(log: string): readonly UnservedLine[] {
  const lines = log.split('\n').filter((line) => line.includes('a Service does not work on this node'));
  return lines.map((line) => JSON.parse(line) as UnservedLine);
}

/** The rules of a chain of table nat, with the proxy ports left out. */
function rulesOf(tables: SavedTables, chain: string): readonly string[] {
  const rules = savedRules(tables, 'nat', chain) ?? [];
  return rules.map((rule) => rule.replace(/(--to-ports |:)\d+$/, '$1PORT')).sort();
}

describe.each(sampleOf(iptablesVariants))('rules in iptables-%s', (variant) => {
  let iptables: NodeIptables;
  beforeEach(async () => {
    iptables = new NodeIptables(testbed.node, variant);
    await iptables.reset();
  });

  it('are those of the mode, stay while nothing changes, are mended, and are removed with nothing else', async () => {
    await iptables.run('IPv4', '-t', 'nat', '-A', 'PREROUTING', '-s', '192.0.2.1', '-j', 'ACCEPT');
    await startProxy([
      { ...WEB, endpoints: ['10.244.1.11'] },
      { ...DNS, endpoints: [] },
    ]);
    const saved = await iptables.saved('IPv4');
    const of = (address: string, port: number, service: string, protocol = 'tcp') =>
      `${address === '' ? '' : `-d ${address}/32 `}-p ${protocol} -m comment --comment "default/${service}" -m ${protocol} --dport ${port}`;
    const host = /-j DNAT --to-destination (\S+):\d+$/.exec(
      savedRules(saved, 'nat', 'KUBE-PORTALS-HOST')![0]!,
    )![1];
    const redirect = '-j REDIRECT --to-ports PORT';
    const send = `-j DNAT --to-destination ${host}:PORT`;
    const local = '-m addrtype --dst-type LOCAL';
    expect(rulesOf(saved, 'KUBE-PORTALS-CONTAINER')).toEqual(
      [
        `${of('172.30.20.11', 80, 'web:http')} ${redirect}`,
        `${of('172.30.20.12', 53, 'dns:ask', 'udp')} ${redirect}`,
        `${of('192.0.2.77', 80, 'web:http')} ${redirect}`,
        `${of('203.0.113.77', 80, 'web:http')} -m physdev ! --physdev-is-in ${redirect}`,
        `${of('203.0.113.77', 80, 'web:http')} ${local} ${redirect}`,
      ].sort(),
    );
    expect(rulesOf(saved, 'KUBE-PORTALS-HOST')).toEqual(
      [
        `${of('172.30.20.11', 80, 'web:http')} ${send}`,
        `${of('172.30.20.12', 53, 'dns:ask', 'udp')} ${send}`,
        `${of('192.0.2.77', 80, 'web:http')} ${send}`,
        `${of('203.0.113.77', 80, 'web:http')} ${local} ${send}`,
      ].sort(),
    );
    expect(rulesOf(saved, 'KUBE-NODEPORT-CONTAINER')).toEqual([`${of('', 30080, 'web:http')} ${redirect}`]);
    expect(rulesOf(saved, 'KUBE-NODEPORT-HOST')).toEqual([`${of('', 30080, 'web:http')} ${send}`]);
    const [nodePortRule] = savedRules(saved, 'nat', 'KUBE-NODEPORT-CONTAINER')!;
    const proxyPort = Number(/\d+$/.exec(nodePortRule!)![0]);
    expect(savedRules(saved, 'filter', 'KUBE-NODEPORT-NON-LOCAL')).toEqual([
      `${of('', proxyPort, 'web:http')} -m state --state NEW -j ACCEPT`,
    ]);
    const jumps = (chain: string) =>
      USERSPACE_BASE_RULES.jumps.filter((jump) => jump.chain === chain).map(({ rule }) => rule);
    const [portals, nodePorts] = jumps('PREROUTING');
    expect(savedRules(saved, 'nat', 'PREROUTING')).toEqual([portals, '-s 192.0.2.1/32 -j ACCEPT', nodePorts]);
    expect(savedRules(saved, 'nat', 'OUTPUT')).toEqual(jumps('OUTPUT'));
    expect(savedRules(saved, 'filter', 'INPUT')).toEqual(jumps('INPUT'));
    expect(rulesOf(await iptables.saved('IPv6'), 'KUBE-PORTALS-CONTAINER')).toEqual([]);

    await iptables.mark('IPv4');
    await iptables.run('IPv4', '-t', 'nat', '-F', 'KUBE-NODEPORT-HOST');
    await until('the flushed chain is mended', async () => {
      const chain = (await iptables.rules('IPv4')).get('nat KUBE-NODEPORT-HOST');
      return chain?.length === 1;
    });
    expect(await iptables.written('IPv4')).toEqual(['nat KUBE-NODEPORT-HOST']);

    expect(await proxy!.stop('SIGTERM')).toBe(0);
    expect(rulesOf(await iptables.saved('IPv4'), 'KUBE-PORTALS-HOST')).toHaveLength(4);
    const cleanup = await Command.run(testbed.node, ['--cleanup']);
    expect(cleanup.exitCode).toBe(0);
    const left = [...(await iptables.saved('IPv4')), ...(await iptables.saved('IPv6'))];
    const names = left.flatMap((table) => table.chains.map(({ name }) => name));
    expect(names.filter((name) => /^KUBE-(PORTALS|NODEPORT)/.test(name))).toEqual([]);
    expect(left.flatMap((table) => table.chains.flatMap(({ rules }) => rules))).toEqual([
      '-s 192.0.2.1/32 -j ACCEPT',
    ]);
  });
});

describe('traffic', () => {
  let backends: Backend[];
  let addresses: string[];
  beforeAll(async () => {
    backends = await Promise.all(
      [1, 2, 3].map((number) => Backend.start(testbed, `b${number}`, `10.244.1.${10 + number}`)),
    );
    addresses = backends.map(({ address }) => address);
  });
  beforeEach(() => new NodeIptables(testbed.node, 'nft').reset());

  it('goes round the endpoints from everywhere, follows changes, and outlives a restart', async () => {
    const { pod, ext, node } = testbed;
    const services = (endpoints: readonly string[]) => [
      { ...WEB, endpoints },
      { ...DNS, endpoints },
      { ...STICKY, endpoints },
    ];
    await startProxy(services(addresses));

    const round = await askTimes(6, pod, web);
    expect(new Set(round.slice(0, 3)).size).toBe(3);
    expect(round.slice(3)).toEqual(round.slice(0, 3));
    expect(new Set(await askTimes(4, pod, sticky)).size).toBe(1);

    const fromOutside = [
      { ...web, dst: NODE, port: 30080 },
      { ...web, dst: '203.0.113.77' },
      { ...web, dst: '192.0.2.77' },
      dns,
    ];
    for (const destination of fromOutside)
      expect(new Set(await askTimes(3, ext, destination))).toEqual(new Set(['b1', 'b2', 'b3']));
    const fromNode = [web, { ...web, dst: '127.0.0.1', port: 30080 }, { ...web, dst: '192.0.2.77' }];
    for (const destination of fromNode)
      expect(new Set(await askTimes(3, node, destination))).toEqual(new Set(['b1', 'b2', 'b3']));

    // A UDP client that keeps its socket: one endpoint while datagrams pass, the next after a pause.
    const asking = await OpenConnection.open(pod, dns);
    const name = (await asking.ask()).body;
    expect((await asking.ask()).body).toBe(name);
    await sleep(400);
    const other = (await asking.ask()).body;
    expect(other).not.toBe(name);

    // What has no server any more is left behind at once, by kept sockets too; what stands open stays.
    const standing = await OpenConnection.open(pod, web);
    const kept = backends.find((backend) => backend.name !== other)!;
    await proxy!.change(clusterObjects(services([kept.address])));
    expect(await askTimes(2, pod, web)).toEqual([kept.name, kept.name]);
    expect((await asking.ask()).body).toBe(kept.name);
    expect((await standing.ask()).connections).toBe(1);
    await proxy!.change(clusterObjects([{ ...DNS, endpoints: addresses }]));
    expect((await standing.ask()).connections).toBe(1);
    await expect(askOnce(pod, web)).rejects.toThrow();

    // Other proxy ports after a restart: also a flow that the kernel knows finds its way.
    await proxy!.change(clusterObjects(services(addresses)));
    await asking.ask();
    expect(await proxy!.stop('SIGTERM')).toBe(0);
    await proxy!.startAgain();
    expect(new Set(await askTimes(3, pod, web)).size).toBe(3);
    await until('the kept socket is answered', async () => (await asking.ask(200)).body !== '');
  });

  it('tries the next endpoint when one refuses or is silent, and lets clients close half', async () => {
    const { pod } = testbed;
    const [{ host: ending, address }] = backends as [Backend];
    await ending.ask('serveAfterEnd', { port: 9000 });
    // Nobody listens at the node's address, and nobody is at the other one.
    await startProxy([
      { ...WEB, endpoints: [addresses[0]!, '10.244.1.1'] },
      { ...STICKY, endpoints: [addresses[1]!, '10.244.1.1', '10.244.1.150'] },
      {
        name: 'half',
        clusterIP: '172.30.20.14',
        ports: [{ ...tcp(80), targetPort: 9000 }],
        endpoints: [address],
      },
    ]);
    expect(new Set(await askTimes(4, pod, web))).toEqual(new Set(['b1']));
    expect(new Set(await askTimes(3, pod, sticky))).toEqual(new Set(['b2']));
    const said = { dst: '172.30.20.14', port: 80, text: 'half closed' };
    expect(await pod.ask('sayAndListen', said)).toMatchObject({ body: 'HALF CLOSED' });
  });

  it('says when the port range is exhausted, serves the others, and the last one when it is retried and a port is free', async () => {
    const { pod } = testbed;
    const named = (number: number): TestService => ({
      ...WEB,
      name: `web${number}`,
      clusterIP: `172.30.21.${number}`,
      ports: [tcp(80)],
      externalIPs: [],
      endpoints: [addresses[0]!],
    });
    await startProxy(
      [named(1), named(2), named(3)],
      `${testConfig}portRange: 40000+1\nbindAddress: ${NODE}\n`,
    );
    const complaint =
      /port allocation failed; there are no remaining ports left to allocate in the accepted range/;
    await until('it is logged', () => unservedIn(proxy!.log).length > 0);
    const [unserved, ...more] = unservedIn(proxy!.log);
    expect(unserved).toMatchObject({
      level: 'warn',
      cause: 'ProgrammingFailed',
      reason: expect.stringMatching(complaint),
    });
    expect(unserved!.nextStep).toMatch(/kubeproxy status/);
    expect(more).toEqual([]);
    const left = unserved!.service.slice('default/'.length);
    const all = [1, 2, 3].map(named);
    for (const { name, clusterIP } of all) {
      const answer = askOnce(pod, { ...web, dst: clusterIP });
      if (name === left) await expect(answer).rejects.toThrow();
      else expect(await answer).toBe('b1');
    }
    const { clusterIP } = all.find(({ name }) => name === left)!;
    const gone = all.find(({ name }) => name !== left)!;
    const rest = all.filter((service) => service !== gone);
    await proxy!.change(clusterObjects(rest));
    await proxy!.change(clusterObjects(rest.map((service) => ({ ...service, affinitySeconds: 60 }))));
    const lastIsServed = async () => (await askOnce(pod, { ...web, dst: clusterIP })) === 'b1';
    await until('the one that lacked a port is retried and served', lastIsServed);
    // With one address to listen on, datagrams are answered from it, wherever they come from.
    await proxy!.change(clusterObjects([{ ...DNS, endpoints: addresses }]));
    await until('it has a port that the others left', async () => (await askOnce(pod, dns)) !== '');
    for (const client of [pod, testbed.ext, testbed.node])
      expect(new Set(await askTimes(3, client, dns))).toEqual(new Set(['b1', 'b2', 'b3']));
  });
});
