import { expect } from 'expect';
import { it } from 'node:test';
import type { ComparisonResult } from '../../../../src/diagnostics/application/comparison-report.js';
import type { FamilyReport } from '../../../../src/diagnostics/application/comparison-report.js';
import { nightly } from '../../../support/nightly.js';
import { Command } from '../../../support/program/command.js';
import { askTimes, OpenConnection } from '../../../support/testbed/traffic.js';
import { until } from '../../../support/until.js';
import { FOREIGN, PATIENCE, sticky, VIRTUAL_SERVERS, web, webUdp, type IpvsNode } from './ipvs-node.js';
import { comparable, listNode } from './recorded-kernel.js';
import { linesOf } from './tool.js';

/** What holds from the start on. */
export function startTests(node: IpvsNode): void {
  it('leaves virtual servers of others alone where it is told to, and removes the rest', async () => {
    const foreign = (await node.servers()).filter((line) => line.includes(':21'));
    expect(foreign).toEqual(FOREIGN);
  });

  it('has the sysctls and timeouts that it was told', async () => {
    const names = ['net.ipv4.vs.conntrack', 'net.ipv4.conf.all.arp_ignore', 'net.ipv4.conf.all.arp_announce'];
    expect((await node.run('sysctl', '-n', ...names)).split('\n')).toEqual(['1', '1', '2']);
    expect(await node.run('ipvsadm', '-L', '--timeout')).toContain('900 1 300');
  });

  it('serves every client, a pod that is its own endpoint among them', async () => {
    for (const client of [node.testbed.pod, node.testbed.node, node.testbed.ext, node.backends[0].host])
      for (const destination of [web, webUdp])
        expect(new Set(await askTimes(4, client, destination))).toEqual(new Set(['b1', 'b2']));
  });

  it('is equal to its plan, but for a virtual server of somebody else', async () => {
    const { stdout, exitCode } = await node.proxy.answer('compare', '--kernel', '--plan', '-o', 'json');
    const { families } = JSON.parse(stdout) as { readonly families: readonly FamilyReport[] };
    const at = families.flatMap(({ differences }) => differences.map(({ packet }) => packet.destination));
    expect(new Set(at)).toEqual(new Set(['203.0.113.9']));
    expect(families.map(({ unknownClasses }) => unknownClasses)).toEqual([0, 0]);
    expect(families[0]!.equalClasses).toBeGreaterThan(20);
    expect(exitCode).toBe(1);
  });

  if (nightly)
    it('is compared without virtual servers of other programs', async () => {
      const compared = async (mode: string) => {
        const words = ['compare', '--kernel', '--proxies-only', '--plan', mode, '-o', 'json'];
        const { stdout, exitCode } = await node.proxy.answer(...words);
        return { exitCode, ...(JSON.parse(stdout) as ComparisonResult) };
      };
      const same = await compared('ipvs');
      expect(
        same.families.map(({ modes, differentClasses, unknownClasses }) => [
          ...modes,
          differentClasses,
          unknownClasses,
        ]),
      ).toEqual([
        ['ipvs', 'ipvs', 0, 0],
        ['ipvs', 'ipvs', 0, 0],
      ]);
      expect([same.exitCode, same.nodeRules!.schedulers]).toEqual([0, ['rr']]);
      expect(same.nodeRules!.rules).toContainEqual({ place: 'ipvs', family: 'IPv4', count: VIRTUAL_SERVERS });
      const changed = await compared('iptables');
      const [family] = changed.families;
      expect(family!.differences.filter(({ knownDifference }) => knownDifference === undefined)).toEqual([]);
      expect(family!.knownDifferences.length).toBeGreaterThan(0);
    });

  it('moves UDP flows to another endpoint at once, and clients with affinity too', async () => {
    const [one, other] = node.backends;
    const flow = await OpenConnection.open(node.testbed.pod, webUdp);
    const [chosen] = await askTimes(1, node.testbed.pod, sticky);
    expect(new Set(await askTimes(5, node.testbed.pod, sticky))).toEqual(new Set([chosen]));
    const { body: flowing } = await flow.ask(PATIENCE);
    for (const gone of [one, other]) {
      const left = gone === one ? other : one;
      await node.proxy.change(node.objects([left]));
      expect(
        (await node.servers()).filter((line) => line.includes(`-u ${webUdp.dst}:81 -r ${gone.address}`)),
      ).toEqual([]);
      // The packet that finds its endpoint gone is lost with it.
      await until(
        `${flowing}'s flow goes on`,
        async () => (await flow.ask(500)).body === left.name,
        PATIENCE,
      );
      expect(new Set(await askTimes(3, node.testbed.pod, sticky))).toEqual(new Set([left.name]));
    }
    await node.proxy.change(node.objects());
  });
}

/** How it goes. */
export function endTests(node: IpvsNode): void {
  it('is left as it is by a restart', async () => {
    const before = comparable(await listNode(node.testbed.node));
    expect(await node.proxy.stop('SIGKILL')).toBe('SIGKILL');
    const logged = node.proxy.log.length;
    await node.proxy.startAgain();
    const written = [...node.proxy.log.slice(logged).matchAll(/"written":(\d+)/g)].map(([, steps]) =>
      Number(steps),
    );
    expect(written).toEqual([0, 0]);
    expect(comparable(await listNode(node.testbed.node))).toEqual(before);
  });

  it('is clean after a clean-up, except for what belongs to other programs', async () => {
    expect(await node.proxy.stop('SIGTERM')).toBe(0);
    await node.run('ipset', 'create', 'OTHERS', 'hash:ip');
    const { exitCode, stderr } = await Command.run(node.testbed.node, [
      ...['--cleanup', '--proxy-mode', 'ipvs', '--ipvs-exclude-cidrs', '203.0.113.0/24'],
    ]);
    expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 });
    const { rules, servers: left, sets, device } = await listNode(node.testbed.node);
    expect(rules.IPv4 + rules.IPv6).not.toMatch(/KUBE-(?!IPTABLES-HINT)/);
    expect(linesOf(left)).toEqual(FOREIGN);
    expect(linesOf(sets)).toEqual([expect.stringMatching(/^create OTHERS hash:ip /)]);
    expect(device).toBe('');
  });

  it('is told what it lacks', async () => {
    const { exitCode, stderr } = await Command.run(node.testbed.node, ['--proxy-mode', 'ipvs', '--once'], {
      env: { PATH: '/nowhere' },
    });
    expect(exitCode).toBe(1);
    expect(stderr).toContain('IPVS mode cannot run on this host');
    expect(stderr).toContain('cannot start ipset: install the package ipset');
    expect(await node.servers()).toEqual(FOREIGN);
  });
}
