import { expect } from 'expect';
import { after, before, describe, it } from 'node:test';
import { MemoryLogger } from '../../../../src/testing/fakes/memory-logger.js';
import { IpSetTool } from '../../../../src/adapters/ipset/ipset-tool.js';
import {
  ensureIpvsSysctls,
  requireIpvs,
  loadModules,
} from '../../../../src/adapters/ipvs/node-requirements.js';
import { NetlinkVirtualServers } from '../../../../src/adapters/ipvs/netlink-virtual-servers.js';
import { tool, withoutModules } from './tool.js';

/** To be run before anything else has loaded the module of IPVS. */
describe('what mode ipvs needs', () => {
  const servers = new NetlinkVirtualServers();
  const sets = new IpSetTool();
  const logger = new MemoryLogger();
  after(() => {
    servers.close();
    sets.close();
  });
  before(async () => expect(await tool('lsmod')).not.toContain('ip_vs'));

  const withPath = async (path: string, work: () => Promise<void>): Promise<void> => {
    const usual = process.env.PATH;
    process.env.PATH = path;
    await work().finally(() => (process.env.PATH = usual));
  };

  it('is reported item by item where it is missing', async () => {
    await withoutModules(() =>
      withPath('/nowhere', () =>
        expect(requireIpvs(servers, sets, 'rr')).rejects.toThrow(
          'IPVS mode cannot run on this host:\n' +
            '- the kernel has no netlink family IPVS: load its module (modprobe ip_vs), or use a kernel that has it\n' +
            '- cannot start ipset: install the package ipset (6.0 or later), or add it to PATH',
        ),
      ),
    );
  });

  it('is loaded where it can be', async () => {
    await withPath('/nowhere', () => loadModules(['ip_vs'], logger));
    expect(logger.lines).toMatchObject([{ level: 'warn', facts: { modules: ['ip_vs'] } }]);
    await loadModules(['ip_vs', 'nonesuch'], logger);
    expect(logger.lines[1]).toMatchObject({ facts: { reason: expect.stringContaining('nonesuch') } });
    await loadModules(['ip_vs'], logger);
    expect(logger.lines).toHaveLength(2);
    await requireIpvs(servers, sets, 'rr');
    expect(await tool('ipvsadm', '-S', '-n')).toBe('');
  });

  it('is a scheduler that the kernel has', async () => {
    await expect(requireIpvs(servers, sets, 'nonesuch')).rejects.toThrow(
      '- the kernel has no IPVS scheduler nonesuch: load its module (modprobe ip_vs_nonesuch), or choose another one',
    );
    // A scheduler that a virtual server uses is available.
    await tool('ipvsadm', '-A', '-u', '192.0.2.1:53', '-s', 'wrr');
    await requireIpvs(servers, sets, 'wrr');
    await tool('ipvsadm', '-C');
  });

  it('is a tool that is not too old', async () => {
    const of = (version: string | undefined) => ({ version: () => Promise.resolve(version) });
    await requireIpvs(servers, of('6.0'), 'rr');
    await expect(requireIpvs(servers, of('4.5'), 'rr')).rejects.toThrow('ipset has version 4.5');
    await expect(requireIpvs(servers, of(undefined), 'rr')).rejects.toThrow('does not print its version');
  });

  it('are sysctls, which the kernel then has', async () => {
    await tool('sysctl', '-w', 'net.ipv4.ip_forward=0');
    ensureIpvsSysctls({ strictArp: true }, logger);
    const shown = await tool(
      'sysctl',
      '-n',
      ...['conntrack', 'conn_reuse_mode', 'expire_nodest_conn', 'expire_quiescent_template'].map(
        (name) => `net.ipv4.vs.${name}`,
      ),
      'net.ipv4.ip_forward',
      'net.ipv4.conf.all.arp_ignore',
      'net.ipv4.conf.all.arp_announce',
    );
    expect(shown.split('\n')).toEqual(['1', '1', '1', '1', '1', '1', '2']);
  });
});
