import { expect } from 'expect';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { parse, stringify } from 'yaml';
import {
  BALANCING_ANNOTATION,
  WEIGHT_ANNOTATION,
} from '../../../../src/domain/decode/balancing-annotations.js';
import { SCHEDULER_ANNOTATION } from '../../../../src/domain/decode/service-annotations.js';
import { nightly } from '../../../support/nightly.js';
import { clusterObjects, testConfig } from '../../../support/testbed/cluster-objects.js';
import { Command } from '../../../support/program/command.js';
import { HINT_CHAIN, NodeIptables } from '../../../support/testbed/iptables-node.js';
import { ProxyProcess, type ModeName } from '../../../support/program/proxy-process.js';
import { openBy, portOf, RunningTop } from '../../../support/program/running-top.js';
import { cutOff, rejoin } from '../../../support/testbed/death.js';
import { Testbed } from '../../../support/testbed/testbed.js';
import { askTimes, Backend, OpenConnection, SteadyClient } from '../../../support/testbed/traffic.js';
import { until } from '../../../support/until.js';
import { emptyNode } from './recorded-kernel.js';
import { linesOf, tool } from './tool.js';

/**
 * This kernel is slow, and shares the machine with others: when it takes the proxy seconds to compare, it does so every
 * other minute.
 */
const PATIENCE = 180_000;
const web = { what: 'http', dst: '172.30.20.11', port: 80 } as const;
/** The port of `web` that says again what it hears. */
const ECHO = 81;
const nodePort = { what: 'http', dst: '198.51.100.11', port: 30191, src: '198.18.0.50' } as const;
const config = stringify({
  ...(parse(testConfig) as object),
  ipvs: { syncPeriod: '2s', minSyncPeriod: '0s' },
});

/** Real connections through the real program in mode ipvs, which runs through all of these tests. */
describe('mode ipvs', () => {
  let testbed: Testbed;
  let iptables: NodeIptables;
  let backends: Backend[];
  let proxy: ProxyProcess;

  before(async () => {
    await tool('modprobe', '-a', 'nf_conntrack_netlink');
    testbed = await Testbed.open();
    iptables = new NodeIptables(testbed.node, 'legacy');
    backends = [];
    for (const number of [1, 2])
      backends.push(await Backend.start(testbed, `b${number}`, `10.244.1.${10 + number}`));
    for (const { host } of backends) await host.ask('serveTransfers', { port: 8081 });
    await emptyNode(testbed.node);
    await iptables.reset();
    proxy = await ProxyProcess.start({
      host: testbed.node,
      mode: 'ipvs',
      config,
      objects: objects(backends),
      slow: true,
    });
  });
  after(async () => {
    await proxy?.remove();
    await testbed.close();
  });

  function objects(endpoints: readonly Backend[]): string {
    const http = {
      name: 'http',
      protocol: 'TCP',
      port: 80,
      targetPort: 8080,
      nodePort: nodePort.port,
    } as const;
    const echo = { name: 'echo', protocol: 'TCP', port: ECHO, targetPort: 8081 } as const;
    const addresses = endpoints.map(({ address }) => address);
    return clusterObjects([{ name: 'web', clusterIP: web.dst, ports: [http, echo], endpoints: addresses }]);
  }

  const run = (...command: readonly string[]) => testbed.node.run(command);
  const servers = async () => linesOf(await run('ipvsadm', '-S', '-n'));
  const weightOf = async ({ address, port }: Backend): Promise<string | undefined> =>
    new RegExp(`${web.dst}:80 -r ${address}:${port} -m -w (\\d)$`, 'm').exec(
      (await servers()).join('\n'),
    )?.[1];
  const eventually = (what: string, holds: () => Promise<boolean>) => until(what, holds, PATIENCE);

  it('lets connections to an endpoint that goes live on, over a restart too, until it comes back', async () => {
    const standing = await OpenConnection.open(testbed.pod, web);
    const { body: name } = await standing.ask(PATIENCE);
    const [going, staying] = name === 'b1' ? backends : backends.toReversed();
    const livesOn = async () =>
      expect(await standing.ask(PATIENCE)).toMatchObject({ body: name, connections: 1 });

    await proxy.change(objects([staying!]));
    expect(await weightOf(going!)).toBe('0');
    expect(await askTimes(4, testbed.pod, web)).toEqual(Array(4).fill(staying!.name));
    await livesOn();

    expect(await proxy.stop('SIGTERM')).toBe(0);
    await livesOn();
    await proxy.startAgain();
    expect(await weightOf(going!)).toBe('0');
    expect(await askTimes(4, testbed.pod, web)).toEqual(Array(4).fill(staying!.name));
    await livesOn();

    await proxy.change(objects(backends));
    expect(await weightOf(going!)).toBe('1');
    expect(new Set(await askTimes(4, testbed.pod, web))).toEqual(new Set(['b1', 'b2']));
    await livesOn();
  });

  it('has connections reset whose endpoint is gone and silent', async () => {
    const [dead, alive] = backends;
    await proxy.change(objects([dead!]));
    const { handle } = await testbed.pod.ask<{ handle: number }>('openTcp', { dst: web.dst, port: ECHO });
    await cutOff(dead!.host);
    await proxy.change(objects([alive!]));
    const request = { handle, timeoutMs: PATIENCE };
    expect(await testbed.pod.ask('sayUntilEnd', request)).toMatchObject({ ending: 'ECONNRESET' });
    await rejoin(dead!.host);
    await proxy.change(objects(backends));
  });

  if (nightly)
    it('has connections counted by top, and says so when IPVS does not have them tracked', async () => {
      const [first] = backends;
      const top = await RunningTop.start(testbed.node);
      const before = openBy(portOf(top.last, 'web', 'http'));
      const clients = [
        ...[testbed.pod, testbed.node, first!.host].map((client) => ({ client, destination: web })),
        { client: testbed.ext, destination: nodePort },
      ];
      const opened: OpenConnection[] = [];
      for (const { client, destination } of [...clients, ...clients])
        opened.push(await OpenConnection.open(client, destination));
      const names: string[] = [];
      for (const connection of opened) names.push((await connection.ask(PATIENCE)).body);
      await askTimes(4, testbed.pod, web);
      await askTimes(2, testbed.ext, nodePort);
      const openNow = Object.fromEntries(
        backends.map(({ name, address }) => [
          address,
          (before[address] ?? 0) + names.filter((answered) => answered === name).length,
        ]),
      );
      await eventually('all are counted', async () => {
        expect(top.sum('new', 'web', 'http')).toBe(opened.length + 6);
        expect(openBy(portOf(top.last, 'web', 'http'))).toEqual(openNow);
        return true;
      });
      expect(top.sum('unanswered', 'web', 'http')).toBe(0);

      await proxy.change(objects(backends.slice(1)));
      await eventually('the endpoint that goes is shown with its connections', async () => {
        const endpoints = portOf(top.last, 'web', 'http')?.endpoints;
        const going = endpoints?.find(({ address }) => address === first!.address);
        expect(going).toMatchObject({ open: openNow[first!.address], state: 'unused' });
        return true;
      });
      await proxy.change(objects(backends));
      expect(await top.stop()).toBe(0);

      await run('sysctl', '-w', 'net.ipv4.vs.conntrack=0');
      const { stdout } = await Command.run(testbed.node, ['top', '--once', '--interval', '100ms']);
      await run('sysctl', '-w', 'net.ipv4.vs.conntrack=1');
      expect(stdout).toContain('none is shown: set net.ipv4.vs.conntrack to 1');
    });

  it('sends requests through INPUT and OUTPUT; only answers pass FORWARD', async () => {
    const answered = async (rule: readonly string[]): Promise<boolean> => {
      await run('iptables-legacy', '-w', '5', '-I', ...rule, '-j', 'DROP');
      const asked = await askTimes(1, testbed.pod, web).then(
        () => true,
        () => false,
      );
      await run('iptables-legacy', '-w', '5', '-D', ...rule, '-j', 'DROP');
      return asked;
    };
    expect(await answered(['FORWARD', '-p', 'tcp', '-d', '10.244.1.0/24', '--dport', '8080'])).toBe(true);
    expect(await answered(['FORWARD', '-p', 'tcp', '-d', web.dst])).toBe(true);
    expect(await answered(['INPUT', '-p', 'tcp', '-d', web.dst])).toBe(false);
    expect(await answered(['OUTPUT', '-p', 'tcp', '-d', '10.244.1.0/24', '--dport', '8080'])).toBe(false);
    expect(await answered(['FORWARD', '-p', 'tcp', '-s', '10.244.1.0/24', '--sport', '8080'])).toBe(false);
  });

  it('repairs what another program changes, and nothing else', async () => {
    const before = await servers();
    const [, address] = backends.map((backend) => backend.address);
    for (const damage of [
      ['ipvsadm', '-D', '-t', `${web.dst}:80`],
      ['ipvsadm', '-d', '-t', `${nodePort.dst}:${nodePort.port}`, '-r', `${address}:8080`],
      ['ipset', 'del', 'KUBE-CLUSTER-IP', `${web.dst},tcp:80`],
      ['ip', 'addr', 'del', `${web.dst}/32`, 'dev', 'kube-ipvs0'],
    ])
      await run(...damage);
    await eventually('everything is as it was', async () => {
      expect(await servers()).toEqual(before);
      expect(await run('ipset', 'save', 'KUBE-CLUSTER-IP')).toContain(`${web.dst},tcp:80`);
      expect(await run('ip', '-br', 'addr', 'show', 'kube-ipvs0')).toContain(`${web.dst}/32`);
      return true;
    });
    await eventually('the log reports it', async () => {
      const steps = [...proxy.log.matchAll(/"steps":(\d+),"msg":"another program changed the rules/g)];
      const repaired = steps.map(([, count]) => Number(count)).reduce((sum, count) => sum + count, 0);
      // The virtual server and its two real servers, the other real server, the member and the address.
      expect(repaired).toBe(6);
      return true;
    });
  });

  it('serves node ports on addresses as they come, and no more when they go', async () => {
    const added = '198.51.100.77';
    const served = async () => (await servers()).some((line) => line.includes(`${added}:${nodePort.port}`));
    await run('ip', 'addr', 'add', `${added}/32`, 'dev', 'node0');
    await eventually('the new address is served', served);
    await run('ip', 'addr', 'del', `${added}/32`, 'dev', 'node0');
    await eventually('the address is served no more', async () => !(await served()));
  });

  it('has endpoints chosen by the scheduler that a Service asks for, where the kernel has it', async () => {
    const ports = [{ name: 'http', protocol: 'TCP', port: 80, targetPort: 8080 }] as const;
    const endpoints = backends.map(({ address }) => address);
    const services = ['sh', 'mh', 'wonder'].map((scheduler, index) => ({
      name: scheduler,
      clusterIP: `172.30.20.${21 + index}`,
      annotations: { [SCHEDULER_ANNOTATION]: scheduler },
      ports,
      endpoints,
    }));
    await proxy.change(clusterObjects(services));
    expect((await servers()).filter((line) => line.startsWith('-A'))).toEqual([
      '-A -t 172.30.20.21:80 -s sh',
      '-A -t 172.30.20.22:80 -s mh -b mh-port',
      '-A -t 172.30.20.23:80 -s rr',
    ]);
    expect(proxy.log).toContain('this kernel has no IPVS scheduler wonder; using rr');
    const answers = async (dst: string) =>
      new Set(await askTimes(4, testbed.pod, { what: 'http', dst, port: 80 })).size;
    expect(await answers('172.30.20.21')).toBe(1);
    expect(await answers('172.30.20.22')).toBeGreaterThan(0);
    expect(await answers('172.30.20.23')).toBe(2);
    await proxy.change(objects(backends));
  });

  it('has endpoints chosen as a Service asks for in every mode, by weight', async () => {
    const ports = [{ name: 'http', protocol: 'TCP', port: 80, targetPort: 8080 }] as const;
    const endpoints = backends.map(({ address }) => address);
    const weight = JSON.stringify({ [endpoints[0]!]: 3 });
    const services = ['maglev', 'maglev-source', 'round-robin', 'random'].map((method, index) => ({
      name: method,
      clusterIP: `172.30.20.${31 + index}`,
      annotations: { [BALANCING_ANNOTATION]: method, [WEIGHT_ANNOTATION]: weight },
      ports,
      endpoints,
    }));
    await proxy.change(clusterObjects(services));
    const lines = await servers();
    expect(lines.filter((line) => line.startsWith('-A'))).toEqual([
      '-A -t 172.30.20.31:80 -s mh -b mh-port',
      '-A -t 172.30.20.32:80 -s mh',
      '-A -t 172.30.20.33:80 -s wrr',
      '-A -t 172.30.20.34:80 -s wrr',
    ]);
    expect(lines.filter((line) => line.endsWith('-w 3'))).toHaveLength(4);
    const names = await askTimes(8, testbed.pod, { what: 'http', dst: '172.30.20.33', port: 80 });
    expect(names.filter((name) => name === backends[0]!.name)).toHaveLength(6);
    await proxy.change(objects(backends));
  });

  if (nightly)
    it('changes places with mode iptables, there and back, and no connection is lost', async () => {
      const standing = await OpenConnection.open(testbed.pod, web);
      const { body: name } = await standing.ask(PATIENCE);
      for (const mode of ['iptables', 'ipvs'] as const) {
        const clients = [
          await SteadyClient.start(testbed.pod, web, 200, PATIENCE),
          await SteadyClient.start(testbed.ext, nodePort, 200, PATIENCE),
        ];
        await changeTo(mode);
        for (const client of clients) {
          const requests = await client.stop();
          expect(requests.length).toBeGreaterThan(10);
          expect({ mode, failed: requests.filter(({ error }) => error !== undefined) }).toEqual({
            mode,
            failed: [],
          });
        }
        expect(await standing.ask(PATIENCE)).toMatchObject({ body: name, connections: 1 });
      }
    });

  if (nightly)
    it('goes with --once of another mode, except what carries connections, and that is reported', async () => {
      const standing = await OpenConnection.open(testbed.pod, web);
      const { body: name } = await standing.ask(PATIENCE);
      expect(await proxy.stop('SIGTERM')).toBe(0);
      const folder = await mkdtemp(join(tmpdir(), 'kube-proxy-once-'));
      await writeFile(join(folder, 'objects.yaml'), objects(backends));
      const { exitCode, stderr } = await Command.run(testbed.node, [
        ...['--once', '--proxy-mode', 'iptables', '--manifests', folder],
        ...['--hostname-override', 'node1', '--cluster-cidr', '10.244.0.0/16'],
      ]);
      await rm(folder, { recursive: true });
      expect({ exitCode, stderr }).toMatchObject({ exitCode: 1 });
      expect(stderr).toMatch(/^not removed: virtual servers of mode ipvs still carry connections \(\d+\)/m);
      expect(await run('ipset', 'save')).not.toContain('create KUBE');
      expect(await standing.ask(PATIENCE)).toMatchObject({ body: name, connections: 1 });
    });

  async function changeTo(mode: ModeName): Promise<void> {
    expect(await proxy.stop('SIGTERM')).toBe(0);
    await proxy.startAgain(mode);
    await eventually(`only what belongs to mode ${mode} is there`, async () => {
      const sets = (await run('ipset', 'save')).match(/^create KUBE/gm)?.length ?? 0;
      const chains = (await iptables.saved('IPv4')).flatMap((table) =>
        table.chains.map((chain) => chain.name),
      );
      const own = (pattern: RegExp) => chains.filter((chain) => chain !== HINT_CHAIN && pattern.test(chain));
      const ofIpvs = own(/^KUBE-(?:NODE-PORT|LOAD-BALANCER|IPVS-|SOURCE-RANGES)/);
      const ofIptables = own(/^KUBE-(?:SVC|SEP|EXT|NODEPORTS|EXTERNAL-SERVICES)/);
      expect({ sets: sets > 0, ipvs: ofIpvs.length > 0, iptables: ofIptables.length > 0 }).toEqual({
        sets: mode === 'ipvs',
        ipvs: mode === 'ipvs',
        iptables: mode === 'iptables',
      });
      return true;
    });
  }
});
