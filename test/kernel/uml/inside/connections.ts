import { expect } from 'expect';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import {
  BALANCING_ANNOTATION,
  WEIGHT_ANNOTATION,
  SCHEDULER_ANNOTATION,
} from '../../../../src/domain/decode/annotations.js';
import { nightly } from '../../../support/nightly.js';
import { clusterObjects } from '../../../support/testbed/cluster-objects.js';
import { Command } from '../../../support/program/command.js';
import { HINT_CHAIN } from '../../../support/testbed/iptables-node.js';
import type { ModeName } from '../../../support/program/proxy-process.js';
import { openBy, portOf, RunningTop } from '../../../support/program/running-top.js';
import { cutOff, rejoin } from '../../../support/testbed/death.js';
import {
  askTimes,
  OpenConnection,
  SteadyClient,
  type Backend,
  type Frontend,
} from '../../../support/testbed/traffic.js';
import { until } from '../../../support/until.js';
import { PATIENCE, PATIENT, web, webEcho, webNodePort, type IpvsNode } from './ipvs-node.js';

/** Real connections through a proxy that runs through all of these tests. */
export function connectionTests(node: IpvsNode): void {
  const weightOf = async ({ address, port }: Backend): Promise<string | undefined> =>
    new RegExp(`${web.dst}:80 -r ${address}:${port} -m -w (\\d)$`, 'm').exec(
      (await node.servers()).join('\n'),
    )?.[1];
  /** The virtual servers of the cluster's Services. */
  const ownServers = async () => (await node.servers()).filter((line) => line.startsWith('-A -t 172.30.'));
  const eventually = (what: string, holds: () => Promise<boolean>) => until(what, holds, PATIENCE);

  it('lets connections to an endpoint that goes live on, over a restart too, which loses what drained and mends what did not have to', async () => {
    const standing = await OpenConnection.open(node.testbed.pod, web);
    const { body: name } = await standing.ask(PATIENCE);
    const [going, staying] = name === 'b1' ? node.backends : node.backends.toReversed();
    const livesOn = async () =>
      expect(await standing.ask(PATIENCE)).toMatchObject({ body: name, connections: 1 });

    await node.proxy.change(node.objects([staying!]));
    expect(await weightOf(going!)).toBe('0');
    expect(await askTimes(4, node.testbed.pod, web)).toEqual(Array(4).fill(staying!.name));
    await livesOn();

    expect(await node.proxy.stop('SIGTERM')).toBe(0);
    await livesOn();
    const before = await node.servers();
    const change = async (what: string, address: string) =>
      node.run('ipvsadm', what, '-t', `${web.dst}:80`, '-r', `${address}:8080`, '-m', '-w', '0');
    await change('-a', '10.244.1.99');
    await change('-e', staying!.address);
    await node.proxy.startAgain();
    expect(await node.servers()).toEqual(before);
    expect(await weightOf(going!)).toBe('0');
    expect(await askTimes(4, node.testbed.pod, web)).toEqual(Array(4).fill(staying!.name));
    await livesOn();

    await node.proxy.change(node.objects());
    expect(await weightOf(going!)).toBe('1');
    expect(new Set(await askTimes(4, node.testbed.pod, web))).toEqual(new Set(['b1', 'b2']));
    await livesOn();
  });

  it('has connections reset whose endpoint is gone and silent', async () => {
    const [dead, alive] = node.backends;
    await node.proxy.change(node.objects([dead!]));
    const { handle } = await node.testbed.pod.ask<{ handle: number }>('openTcp', webEcho);
    await cutOff(dead!.host);
    await node.proxy.change(node.objects([alive!]));
    const request = { handle, timeoutMs: PATIENCE };
    expect(await node.testbed.pod.ask('sayUntilEnd', request)).toMatchObject({ ending: 'ECONNRESET' });
    await rejoin(dead!.host);
    await node.proxy.change(node.objects());
  });

  if (nightly)
    it('has connections counted by top, and says so when IPVS does not have them tracked', async () => {
      const [first] = node.backends;
      const top = await RunningTop.start(node.testbed.node);
      const before = openBy(portOf(top.last, 'web', 'http'));
      const clients = [
        ...[node.testbed.pod, node.testbed.node, first!.host].map((client) => ({ client, destination: web })),
        { client: node.testbed.ext, destination: webNodePort },
      ];
      const opened: OpenConnection[] = [];
      for (const { client, destination } of [...clients, ...clients])
        opened.push(await OpenConnection.open(client, destination));
      const names: string[] = [];
      for (const connection of opened) names.push((await connection.ask(PATIENCE)).body);
      await askTimes(4, node.testbed.pod, web);
      await askTimes(2, node.testbed.ext, webNodePort);
      const openNow = Object.fromEntries(
        node.backends.map(({ name, address }) => [
          address,
          (before[address] ?? 0) + names.filter((answered) => answered === name).length,
        ]),
      );
      await eventually('all are counted', async () => {
        expect(top.sum('newConnections', 'web', 'http')).toBe(opened.length + 6);
        expect(openBy(portOf(top.last, 'web', 'http'))).toEqual(openNow);
        return true;
      });
      expect(top.sum('unansweredConnections', 'web', 'http')).toBe(0);

      await node.proxy.change(node.objects(node.backends.slice(1)));
      await eventually('the endpoint that goes is shown with its connections', async () => {
        const endpoints = portOf(top.last, 'web', 'http')?.endpoints;
        const going = endpoints?.find(({ address }) => address === first!.address);
        expect(going).toMatchObject({ open: openNow[first!.address], state: 'unused' });
        return true;
      });
      await node.proxy.change(node.objects());
      expect(await top.stop()).toBe(0);

      await node.run('sysctl', '-w', 'net.ipv4.vs.conntrack=0');
      const { stdout } = await Command.run(node.testbed.node, ['top', '--once', '--interval', '100ms']);
      await node.run('sysctl', '-w', 'net.ipv4.vs.conntrack=1');
      expect(stdout).toContain('none is shown: set net.ipv4.vs.conntrack to 1');
    });

  it('sends requests through INPUT and OUTPUT; only answers pass FORWARD', async () => {
    const answered = async (rule: readonly string[]): Promise<boolean> => {
      await node.run('iptables-legacy', '-w', '5', '-I', ...rule, '-j', 'DROP');
      const asked = await askTimes(1, node.testbed.pod, { ...web, timeoutMs: 1000 }).then(
        () => true,
        () => false,
      );
      await node.run('iptables-legacy', '-w', '5', '-D', ...rule, '-j', 'DROP');
      return asked;
    };
    expect(await answered(['FORWARD', '-p', 'tcp', '-d', '10.244.1.0/24', '--dport', '8080'])).toBe(true);
    expect(await answered(['FORWARD', '-p', 'tcp', '-d', web.dst])).toBe(true);
    expect(await answered(['INPUT', '-p', 'tcp', '-d', web.dst])).toBe(false);
    expect(await answered(['OUTPUT', '-p', 'tcp', '-d', '10.244.1.0/24', '--dport', '8080'])).toBe(false);
    expect(await answered(['FORWARD', '-p', 'tcp', '-s', '10.244.1.0/24', '--sport', '8080'])).toBe(false);
  });

  it('repairs what another program changes, and nothing else', async () => {
    const before = await node.servers();
    const [, address] = node.backends.map((backend) => backend.address);
    for (const damage of [
      ['ipvsadm', '-D', '-t', `${web.dst}:80`],
      ['ipvsadm', '-d', '-t', `${webNodePort.dst}:${webNodePort.port}`, '-r', `${address}:8080`],
      ['ipset', 'del', 'KUBE-CLUSTER-IP', `${web.dst},tcp:80`],
      ['ip', 'addr', 'del', `${web.dst}/32`, 'dev', 'kube-ipvs0'],
    ])
      await node.run(...damage);
    // Looked at first, since it costs nothing.
    await eventually('the log reports it', async () => {
      const steps = [...node.proxy.log.matchAll(/"steps":(\d+),"msg":"another program changed the rules/g)];
      const repaired = steps.map(([, count]) => Number(count)).reduce((sum, count) => sum + count, 0);
      // The virtual server and its two real servers, the other real server, the member and the address.
      expect(repaired).toBe(6);
      return true;
    });
    await eventually('everything is as it was', async () => {
      expect(await node.servers()).toEqual(before);
      expect(await node.run('ipset', 'save', 'KUBE-CLUSTER-IP')).toContain(`${web.dst},tcp:80`);
      expect(await node.run('ip', '-br', 'addr', 'show', 'kube-ipvs0')).toContain(`${web.dst}/32`);
      return true;
    });
  });

  it('lets connections to other endpoints live on when another program removes one from IPVS, whose connections the kernel resets', async () => {
    const { pod } = node.testbed;
    const [first, second] = [await OpenConnection.open(pod, web), await OpenConnection.open(pod, web)];
    const [ending, staying] = [await first.ask(PATIENCE), await second.ask(PATIENCE)];
    expect(ending.body).not.toBe(staying.body);
    // So that it does not add the endpoint again before the connection is used.
    expect(await node.proxy.stop('SIGTERM')).toBe(0);
    const before = await node.servers();
    const { address } = node.backends.find(({ name }) => name === ending.body)!;
    await node.run('ipvsadm', '-d', '-t', `${web.dst}:80`, '-r', `${address}:8080`);
    await expect(first.ask(PATIENCE)).rejects.toThrow(/ECONNRESET/);
    expect(await second.ask(PATIENCE)).toMatchObject({ body: staying.body, connections: 1 });
    await node.proxy.startAgain();
    expect((await node.servers()).toSorted()).toEqual(before.toSorted());
  });

  it('serves node ports on addresses as they come, and no more when they go', async () => {
    const added = '198.51.100.77';
    const served = async () =>
      (await node.servers()).some((line) => line.includes(`${added}:${webNodePort.port}`));
    await node.run('ip', 'addr', 'add', `${added}/32`, 'dev', 'node0');
    await eventually('the new address is served', served);
    await node.run('ip', 'addr', 'del', `${added}/32`, 'dev', 'node0');
    await eventually('the address is served no more', async () => !(await served()));
  });

  it('has endpoints chosen by the scheduler that a Service asks for, where the kernel has it', async () => {
    const ports = [{ name: 'http', protocol: 'TCP', port: 80, targetPort: 8080 }] as const;
    const endpoints = node.backends.map(({ address }) => address);
    const services = ['sh', 'mh', 'wonder'].map((scheduler, index) => ({
      name: scheduler,
      clusterIP: `172.30.20.${21 + index}`,
      annotations: { [SCHEDULER_ANNOTATION]: scheduler },
      ports,
      endpoints,
    }));
    await node.proxy.change(clusterObjects(services));
    expect(await ownServers()).toEqual([
      '-A -t 172.30.20.21:80 -s sh',
      '-A -t 172.30.20.22:80 -s mh -b mh-port',
      '-A -t 172.30.20.23:80 -s rr',
    ]);
    expect(node.proxy.log).toContain('this kernel has no IPVS scheduler wonder; using rr');
    const answers = async (dst: string) =>
      new Set(await askTimes(4, node.testbed.pod, { ...PATIENT, what: 'http', dst, port: 80 })).size;
    expect(await answers('172.30.20.21')).toBe(1);
    expect(await answers('172.30.20.22')).toBeGreaterThan(0);
    expect(await answers('172.30.20.23')).toBe(2);
    await node.proxy.change(node.objects());
  });

  it('has endpoints chosen as a Service asks for in every mode, by weight', async () => {
    const ports = [{ name: 'http', protocol: 'TCP', port: 80, targetPort: 8080 }] as const;
    const endpoints = node.backends.map(({ address }) => address);
    const weight = JSON.stringify({ [endpoints[0]!]: 3 });
    const services = ['maglev', 'maglev-source', 'round-robin', 'random'].map((method, index) => ({
      name: method,
      clusterIP: `172.30.20.${31 + index}`,
      annotations: { [BALANCING_ANNOTATION]: method, [WEIGHT_ANNOTATION]: weight },
      ports,
      endpoints,
    }));
    await node.proxy.change(clusterObjects(services));
    const lines = await node.servers();
    expect(await ownServers()).toEqual([
      '-A -t 172.30.20.31:80 -s mh -b mh-port',
      '-A -t 172.30.20.32:80 -s mh',
      '-A -t 172.30.20.33:80 -s wrr',
      '-A -t 172.30.20.34:80 -s wrr',
    ]);
    expect(lines.filter((line) => line.endsWith('-w 3'))).toHaveLength(4);
    const weighted = { ...PATIENT, what: 'http', dst: '172.30.20.33', port: 80 } as const;
    const names = await askTimes(8, node.testbed.pod, weighted);
    expect(names.filter((name) => name === node.backends[0]!.name)).toHaveLength(6);
    await node.proxy.change(node.objects());
  });

  it('has no client refused that sh leads to an endpoint of weight 0', async () => {
    const to = { ...PATIENT, what: 'http', dst: '172.30.20.42', port: 80 } as const;
    // One of both is the one that the client is led to by its address.
    for (const [index, { address }] of node.backends.entries()) {
      const service = {
        ...{
          name: 'by-source',
          clusterIP: to.dst,
          endpoints: node.backends.map((backend) => backend.address),
        },
        annotations: { [SCHEDULER_ANNOTATION]: 'sh', [WEIGHT_ANNOTATION]: JSON.stringify({ [address]: 0 }) },
        ports: [{ name: 'http', protocol: 'TCP', port: to.port, targetPort: 8080 } as const],
      };
      await node.proxy.change(clusterObjects([service]));
      expect(await ownServers()).toEqual(['-A -t 172.30.20.42:80 -s sh -b sh-fallback']);
      const { name } = node.backends[1 - index]!;
      expect(await askTimes(2, node.testbed.pod, to)).toEqual([name, name]);
    }
    await node.proxy.change(node.objects());
  });

  it('keeps the connections of an endpoint of weight 0, and of one that is removed from others with weights', async () => {
    const [tcp, udp] = [
      { ...PATIENT, what: 'http', dst: '172.30.20.41', port: 80 },
      { ...PATIENT, what: 'udp', dst: '172.30.20.41', port: 81 },
    ] as const;
    const change = (weights: readonly [number, number], endpoints = node.backends as readonly Backend[]) =>
      node.proxy.change(
        clusterObjects([
          {
            ...{ name: 'weighted', clusterIP: tcp.dst, endpoints: endpoints.map(({ address }) => address) },
            annotations: {
              [WEIGHT_ANNOTATION]: JSON.stringify(
                Object.fromEntries(node.backends.map(({ address }, index) => [address, weights[index]])),
              ),
            },
            ports: [
              { name: 'http', protocol: 'TCP', port: tcp.port, targetPort: 8080 },
              { name: 'udp', protocol: 'UDP', port: udp.port, targetPort: 8080 },
            ],
          },
        ]),
      );
    const weights = async (option: string, { dst, port }: Frontend) =>
      (await node.servers())
        .filter((line) => line.startsWith(`-a ${option} ${dst}:${port} `))
        .map((line) => Number(line.split(' -w ')[1]));
    const { pod } = node.testbed;
    await change([3, 5]);
    for (const [to, option] of [
      [tcp, '-t'],
      [udp, '-u'],
    ] as const) {
      const standing = await OpenConnection.open(pod, to);
      const { body: name } = await standing.ask(PATIENCE);
      const isFirst = name === node.backends[0].name;
      await change(isFirst ? [0, 5] : [3, 0]);
      expect(await weights(option, to)).toEqual(expect.arrayContaining([0, isFirst ? 5 : 3]));
      const other = node.backends[isFirst ? 1 : 0];
      expect(await askTimes(4, pod, to)).toEqual(Array(4).fill(other.name));
      expect(await standing.ask(PATIENCE)).toMatchObject({ body: name });
      if (to === tcp) {
        await change([3, 5], [other]);
        expect(await weights(option, to)).toEqual(expect.arrayContaining([0, isFirst ? 5 : 3]));
        expect(await askTimes(4, pod, to)).toEqual(Array(4).fill(other.name));
        expect(await standing.ask(PATIENCE)).toMatchObject({ body: name, connections: 1 });
      }
      await change([3, 5]);
    }
    await node.proxy.change(node.objects());
  });
}

/** How other modes take its place. The program has ended before. */
export function modeTests(node: IpvsNode): void {
  const eventually = (what: string, holds: () => Promise<boolean>) => until(what, holds, PATIENCE);

  it('changes places with mode iptables, there and back, and no connection is lost', async () => {
    await node.proxy.startAgain();
    const standing = await OpenConnection.open(node.testbed.pod, web);
    const { body: name } = await standing.ask(PATIENCE);
    for (const mode of ['iptables', 'ipvs'] as const) {
      const clients = [
        await SteadyClient.start(node.testbed.pod, web, 200, PATIENCE),
        await SteadyClient.start(node.testbed.ext, webNodePort, 200, PATIENCE),
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

  it('goes with --once of another mode, except what carries connections, and that is reported', async () => {
    const standing = await OpenConnection.open(node.testbed.pod, web);
    const { body: name } = await standing.ask(PATIENCE);
    expect(await node.proxy.stop('SIGTERM')).toBe(0);
    const folder = await mkdtemp(join(tmpdir(), 'kube-proxy-once-'));
    await writeFile(join(folder, 'objects.yaml'), node.objects());
    const { exitCode, stderr } = await Command.run(node.testbed.node, [
      ...['--once', '--proxy-mode', 'iptables', '--manifests', folder],
      ...['--hostname-override', 'node1', '--cluster-cidr', '10.244.0.0/16'],
    ]);
    await rm(folder, { recursive: true });
    expect({ exitCode, stderr }).toMatchObject({ exitCode: 1 });
    expect(stderr).toMatch(/^not removed: virtual servers of IPVS mode still carry connections \(\d+\)/m);
    expect(await node.run('ipset', 'save')).not.toContain('create KUBE');
    expect(await standing.ask(PATIENCE)).toMatchObject({ body: name, connections: 1 });
  });

  async function changeTo(mode: ModeName): Promise<void> {
    expect(await node.proxy.stop('SIGTERM')).toBe(0);
    await node.proxy.startAgain(mode);
    await eventually(`only what belongs to mode ${mode} is there`, async () => {
      const sets = (await node.run('ipset', 'save')).match(/^create KUBE/gm)?.length ?? 0;
      const chains = (await node.iptables.saved('IPv4')).flatMap((table) =>
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
}
