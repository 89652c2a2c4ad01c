import { expect } from 'expect';
import { after, before, describe, it } from 'node:test';
import { parse, stringify } from 'yaml';
import type { FamilyReport } from '../../../../src/application/compare/comparison-report.js';
import { inspection } from '../../../../src/domain/migration/inspection.js';
import { leftovers } from '../../../../src/domain/migration/node-facts.js';
import { nightly } from '../../../support/nightly.js';
import { clusterObjects, testConfig, type TestService } from '../../../support/testbed/cluster-objects.js';
import { Command } from '../../../support/program/command.js';
import { ProxyProcess } from '../../../support/program/proxy-process.js';
import { Testbed } from '../../../support/testbed/testbed.js';
import { askTimes, Backend, OpenConnection } from '../../../support/testbed/traffic.js';
import { until } from '../../../support/until.js';
import { comparable, emptyNode, listNode } from './recorded-kernel.js';
import { linesOf, tool } from './tool.js';

/** This kernel is slow, and shares the machine with others. */
const PATIENCE = 60_000;
const tcp = { name: 'http', protocol: 'TCP', port: 80, targetPort: 8080 } as const;
const udp = { name: 'echo', protocol: 'UDP', port: 81, targetPort: 8080 } as const;
const web = { what: 'http', dst: '172.30.20.21', port: tcp.port } as const;
const echo = { what: 'udp', dst: web.dst, port: udp.port } as const;
const sticky = { what: 'http', dst: '172.30.20.22', port: tcp.port } as const;

const config = stringify({
  ...(parse(testConfig) as object),
  nodePortAddresses: ['primary'],
  ipvs: { excludeCIDRs: ['203.0.113.0/24'], tcpFinTimeout: '1s', strictARP: true },
});

/** The real program in mode ipvs on one node, from its start until nothing is left of it. The tests follow each other. */
describe('a node in mode ipvs', () => {
  let testbed: Testbed;
  let one: Backend;
  let other: Backend;
  let proxy: ProxyProcess;

  const objects = (...endpoints: readonly Backend[]): string => {
    const common = { endpoints: endpoints.map(({ address }) => address) };
    const services: readonly TestService[] = [
      { ...common, name: 'web', clusterIP: web.dst, ports: [tcp, udp] },
      { ...common, name: 'sticky', clusterIP: sticky.dst, ports: [tcp], affinitySeconds: 600 },
    ];
    return clusterObjects(services);
  };
  const run = (...command: readonly string[]): Promise<string> => testbed.node.run(command);
  const servers = async (): Promise<readonly string[]> => linesOf(await run('ipvsadm', '-S', '-n'));

  before(async () => {
    await tool('modprobe', '-a', 'nf_conntrack_netlink', 'ip_vs');
    testbed = await Testbed.open();
    await emptyNode(testbed.node);
    one = await Backend.start(testbed, 'b1', '10.244.1.11');
    other = await Backend.start(testbed, 'b2', '10.244.1.12');
    for (const address of ['203.0.113.9:21', '192.0.2.9:21'])
      await run('ipvsadm', '-A', '-t', address, '-s', 'wrr');
    await run('ipvsadm', '-a', '-t', '203.0.113.9:21', '-r', '192.0.2.1:21', '-m');
    proxy = await ProxyProcess.start({
      ...({ host: testbed.node, mode: 'ipvs', slow: true, config } as const),
      objects: objects(one, other),
    });
  });
  after(async () => {
    await proxy?.remove();
    await testbed.close();
  });

  it('leaves virtual servers of others alone where it is told to, and removes the rest', async () => {
    const foreign = (await servers()).filter((line) => line.includes(':21'));
    expect(foreign).toEqual(['-A -t 203.0.113.9:21 -s wrr', '-a -t 203.0.113.9:21 -r 192.0.2.1:21 -m -w 1']);
  });

  it('has the sysctls and timeouts that it was told', async () => {
    const names = ['net.ipv4.vs.conntrack', 'net.ipv4.conf.all.arp_ignore', 'net.ipv4.conf.all.arp_announce'];
    expect((await run('sysctl', '-n', ...names)).split('\n')).toEqual(['1', '1', '2']);
    expect(await run('ipvsadm', '-L', '--timeout')).toContain('900 1 300');
  });

  it('serves every client, a pod that is its own endpoint among them', async () => {
    for (const client of [testbed.pod, testbed.node, testbed.ext, one.host])
      for (const destination of [web, echo])
        expect(new Set(await askTimes(4, client, destination))).toEqual(new Set(['b1', 'b2']));
  });

  it('is equal to its plan, but for a virtual server of somebody else', async () => {
    const { stdout, exitCode } = await proxy.answer('compare', '--kernel', '--plan', '-o', 'json');
    const { families } = JSON.parse(stdout) as { readonly families: readonly FamilyReport[] };
    const at = families.flatMap(({ differences }) => differences.map(({ packet }) => packet.destination));
    expect(new Set(at)).toEqual(new Set(['203.0.113.9']));
    expect(families.map(({ unknown }) => unknown)).toEqual([0, 0]);
    expect(families[0]!.equal).toBeGreaterThan(20);
    expect(exitCode).toBe(1);
  });

  if (nightly)
    it('is inspected without a virtual server of somebody else', async () => {
      const inspected = async (mode: string) => {
        const { stdout, exitCode } = await proxy.answer('inspect', '--plan', mode, '-o', 'json');
        return { exitCode, ...inspection(JSON.parse(stdout), '') };
      };
      const same = await inspected('ipvs');
      expect(
        same.comparison!.families.map(({ mode, different, unknown }) => [mode, different, unknown]),
      ).toEqual([
        ['ipvs', 0, 0],
        ['ipvs', 0, 0],
      ]);
      expect([same.exitCode, same.facts.schedulers]).toEqual([0, ['rr']]);
      expect(same.facts.rules).toContainEqual({ place: 'ipvs', family: 'IPv4', count: 3 });
      expect(leftovers(same.facts, 'ipvs')).toEqual([]);
      expect(leftovers(same.facts, 'iptables')).toEqual(['3 virtual servers']);
      const changed = await inspected('iptables');
      expect([changed.exitCode, changed.comparison!.families[0]!.differences]).toEqual([0, []]);
      expect(changed.comparison!.families[0]!.known.length).toBeGreaterThan(0);
    });

  it('moves UDP flows to another endpoint at once, and clients with affinity too', async () => {
    const flow = await OpenConnection.open(testbed.pod, echo);
    const [chosen] = await askTimes(1, testbed.pod, sticky);
    expect(new Set(await askTimes(5, testbed.pod, sticky))).toEqual(new Set([chosen]));
    const { body: flowing } = await flow.ask(PATIENCE);
    for (const gone of [one, other]) {
      const left = gone === one ? other : one;
      await proxy.change(objects(left));
      expect(
        (await servers()).filter((line) => line.includes(`-u ${echo.dst}:81 -r ${gone.address}`)),
      ).toEqual([]);
      // The packet that finds its endpoint gone is lost with it.
      await until(
        `${flowing}'s flow goes on`,
        async () => (await flow.ask(500)).body === left.name,
        PATIENCE,
      );
      expect(new Set(await askTimes(3, testbed.pod, sticky))).toEqual(new Set([left.name]));
    }
    await proxy.change(objects(one, other));
  });

  it('loses what had drained while the program was away, and gets back what only seemed to drain', async () => {
    expect(await proxy.stop('SIGTERM')).toBe(0);
    const before = await servers();
    await run('ipvsadm', '-a', '-t', `${web.dst}:80`, '-r', '10.244.1.99:8080', '-m', '-w', '0');
    await run('ipvsadm', '-e', '-t', `${web.dst}:80`, '-r', `${one.address}:8080`, '-m', '-w', '0');
    await proxy.startAgain();
    expect(await servers()).toEqual(before);
    expect(new Set(await askTimes(4, testbed.pod, web))).toEqual(new Set(['b1', 'b2']));
  });

  it('is left as it is by a restart', async () => {
    const before = comparable(await listNode(testbed.node));
    expect(await proxy.stop('SIGKILL')).toBe('SIGKILL');
    const logged = proxy.log.length;
    await proxy.startAgain();
    const written = [...proxy.log.slice(logged).matchAll(/"written":(\d+)/g)].map(([, steps]) =>
      Number(steps),
    );
    expect(written).toEqual([0, 0]);
    expect(comparable(await listNode(testbed.node))).toEqual(before);
  });

  it('is clean after a clean-up, except for what belongs to other programs', async () => {
    expect(await proxy.stop('SIGTERM')).toBe(0);
    await run('ipset', 'create', 'OTHERS', 'hash:ip');
    const { exitCode, stderr } = await Command.run(testbed.node, [
      ...['--cleanup', '--proxy-mode', 'ipvs', '--ipvs-exclude-cidrs', '203.0.113.0/24'],
    ]);
    expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 });
    const { rules, servers: left, sets, device } = await listNode(testbed.node);
    expect(rules.IPv4 + rules.IPv6).not.toMatch(/KUBE-(?!IPTABLES-HINT)/);
    expect(linesOf(left)).toEqual([
      '-A -t 203.0.113.9:21 -s wrr',
      '-a -t 203.0.113.9:21 -r 192.0.2.1:21 -m -w 1',
    ]);
    expect(linesOf(sets)).toEqual([expect.stringMatching(/^create OTHERS hash:ip /)]);
    expect(device).toBe('');
  });

  it('is told what it lacks', async () => {
    const { exitCode, stderr } = await Command.run(testbed.node, ['--proxy-mode', 'ipvs', '--once'], {
      env: { PATH: '/nowhere' },
    });
    expect(exitCode).toBe(1);
    expect(stderr).toContain('mode ipvs cannot run on this host');
    expect(stderr).toContain('cannot start ipset: install the package ipset');
    expect(await servers()).toHaveLength(2);
  });
});
