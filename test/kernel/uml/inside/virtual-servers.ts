import { expect } from 'expect';
import { after, beforeEach, describe, it } from 'node:test';
import { NetlinkVirtualServers } from '../../../../src/adapters/ipvs/netlink-virtual-servers.js';
import type { VirtualServerStep } from '../../../../src/adapters/ipvs/ipvs-kernel.js';
import { NetlinkPermissionError, NetlinkRequestError } from '../../../../src/adapters/netlink/errors.js';
import {
  HASH_SOURCE_PORT,
  PERSISTENT,
  type VirtualServer,
} from '../../../../src/domain/ipvs/virtual-server.js';
import type { Protocol } from '../../../../src/domain/model/service-port-name.js';
import { asNobody, linesOf, tool } from './tool.js';

function virtualServer(
  address: string,
  protocol: Protocol,
  port: number,
  more: Partial<VirtualServer> = {},
): VirtualServer {
  return { address, protocol, port, scheduler: 'rr', flags: 0, persistenceSeconds: 0, ...more };
}

const web = virtualServer('10.96.0.1', 'TCP', 80);
const dns = virtualServer('fd00:96::a', 'UDP', 53, { scheduler: 'wlc' });
const sticky = virtualServer('10.96.0.2', 'TCP', 443, { flags: PERSISTENT, persistenceSeconds: 10800 });

const saved = async (): Promise<readonly string[]> => linesOf(await tool('ipvsadm', '-S', '-n'));
const messages = (outcomes: readonly (Error | undefined)[]): (string | undefined)[] =>
  outcomes.map((outcome) => outcome?.message);

describe('virtual servers over netlink', () => {
  const servers = new NetlinkVirtualServers();
  beforeEach(() => tool('ipvsadm', '-C'));
  after(() => servers.close());

  const done = async (...steps: VirtualServerStep[]): Promise<void> => {
    expect(messages(await servers.apply(steps))).toEqual(steps.map(() => undefined));
  };

  it('are what ipvsadm shows', async () => {
    await done(
      { kind: 'add', server: web },
      { kind: 'add-real', server: web, real: { address: '10.244.1.5', port: 8080, weight: 1 } },
      { kind: 'add-real', server: web, real: { address: '10.244.2.6', port: 8080, weight: 0 } },
      { kind: 'add', server: dns },
      { kind: 'add-real', server: dns, real: { address: 'fd00:10:244:1::5', port: 53, weight: 1 } },
      { kind: 'add', server: sticky },
      {
        kind: 'add',
        server: virtualServer('fd00:96::b', 'TCP', 80, { flags: PERSISTENT, persistenceSeconds: 60 }),
      },
      { kind: 'add', server: virtualServer('10.96.0.3', 'SCTP', 132) },
      {
        kind: 'add',
        server: virtualServer('10.96.0.4', 'TCP', 80, { scheduler: 'mh', flags: HASH_SOURCE_PORT }),
      },
    );
    expect(await saved()).toEqual(
      [
        '-A -t 10.96.0.1:80 -s rr',
        '-a -t 10.96.0.1:80 -r 10.244.1.5:8080 -m -w 1',
        '-a -t 10.96.0.1:80 -r 10.244.2.6:8080 -m -w 0',
        '-A -u [fd00:96::a]:53 -s wlc',
        '-a -u [fd00:96::a]:53 -r [fd00:10:244:1::5]:53 -m -w 1',
        '-A -t 10.96.0.2:443 -s rr -p 10800',
        '-A -t [fd00:96::b]:80 -s rr -p 60',
        '-A --sctp-service 10.96.0.3:132 -s rr',
        '-A -t 10.96.0.4:80 -s mh -b mh-port',
      ].sort(),
    );
  });

  it('are found one at a time', async () => {
    const reals = [
      { address: 'fd00:10:244:1::5', port: 53, weight: 1 },
      { address: 'fd00:10:244:1::6', port: 53, weight: 0 },
    ];
    await done(
      { kind: 'add', server: web },
      { kind: 'add', server: dns },
      ...reals.map((real) => ({ kind: 'add-real', server: dns, real }) as const),
    );
    const found = await servers.find({ address: dns.address, protocol: 'UDP', port: 53 });
    expect(found).toMatchObject({ scheduler: 'wlc', flags: 0, persistenceSeconds: 0 });
    expect(found!.realServers.map(({ address, weight }) => [address, weight]).toSorted()).toEqual(
      reals.map(({ address, weight }) => [address, weight]),
    );
    expect(await servers.find(web)).toEqual({ ...web, realServers: [] });
    expect(await servers.find({ ...web, protocol: 'UDP' })).toBeUndefined();
    expect(await servers.find({ ...web, port: 0 })).toBeUndefined();
  });

  it('are listed by family as they were made, also those of others', async () => {
    await done(
      { kind: 'add', server: web },
      { kind: 'add-real', server: web, real: { address: '10.244.1.5', port: 8080, weight: 0 } },
      { kind: 'add', server: sticky },
      { kind: 'add', server: dns },
      { kind: 'add-real', server: dns, real: { address: 'fd00:10:244:1::5', port: 53, weight: 1 } },
    );
    await tool('ipvsadm', '-A', '-f', '7', '-s', 'rr');
    await tool('ipvsadm', '-A', '-t', '192.0.2.1:21', '-s', 'sh', '-b', 'sh-port,sh-fallback');
    await tool('ipvsadm', '-a', '-t', '192.0.2.1:21', '-r', '192.0.2.2', '-g', '-w', '7');
    const none = { activeConnections: 0, inactiveConnections: 0 };
    const byPort = (one: VirtualServer, other: VirtualServer): number => one.port - other.port;
    expect([...(await servers.list('IPv4'))].sort(byPort)).toEqual([
      {
        ...virtualServer('192.0.2.1', 'TCP', 21, { scheduler: 'sh', flags: 0x18 }),
        realServers: [{ address: '192.0.2.2', port: 21, weight: 7, ...none }],
      },
      { ...web, realServers: [{ address: '10.244.1.5', port: 8080, weight: 0, ...none }] },
      { ...sticky, realServers: [] },
    ]);
    expect(await servers.list('IPv6')).toEqual([
      { ...dns, realServers: [{ address: 'fd00:10:244:1::5', port: 53, weight: 1, ...none }] },
    ]);
    expect(await servers.realServers(virtualServer('10.96.9.9', 'TCP', 80))).toEqual([]);
  });

  it('are changed in place, and deleted', async () => {
    const real = { address: '10.244.1.5', port: 8080, weight: 1 };
    const other = { ...real, address: '10.244.1.6' };
    await done(
      { kind: 'add', server: web },
      { kind: 'add-real', server: web, real },
      { kind: 'add-real', server: web, real: other },
      { kind: 'add', server: dns },
    );
    await done(
      { kind: 'set', server: { ...web, scheduler: 'sh', flags: PERSISTENT, persistenceSeconds: 30 } },
      { kind: 'set-real', server: web, real: { ...real, weight: 0 } },
      { kind: 'delete-real', server: web, real: other },
      { kind: 'delete', server: dns },
    );
    expect(await saved()).toEqual([
      '-A -t 10.96.0.1:80 -s sh -p 30',
      '-a -t 10.96.0.1:80 -r 10.244.1.5:8080 -m -w 0',
    ]);
    await done({ kind: 'set', server: web });
    expect(await saved()).toContain('-A -t 10.96.0.1:80 -s rr');
  });

  it('are each refused for themselves, with the reason', async () => {
    const real = { address: '10.244.1.5', port: 8080, weight: 1 };
    await done({ kind: 'add', server: web }, { kind: 'add-real', server: web, real });
    const outcomes = await servers.apply([
      { kind: 'add', server: web },
      { kind: 'add', server: { ...sticky, scheduler: 'nonesuch' } },
      { kind: 'set', server: dns },
      { kind: 'add-real', server: web, real },
      { kind: 'add-real', server: dns, real: { address: 'fd00::1', port: 1, weight: 1 } },
      { kind: 'set-real', server: web, real: { ...real, port: 1 } },
      { kind: 'delete-real', server: web, real: { ...real, port: 2 } },
      { kind: 'delete', server: dns },
      { kind: 'set-real', server: web, real: { ...real, weight: 0 } },
    ]);
    expect(messages(outcomes)).toEqual([
      'adding the virtual server 10.96.0.1:80/TCP was rejected: EEXIST: it exists already',
      'adding the virtual server 10.96.0.2:443/TCP was rejected: ENOENT: the kernel has no scheduler nonesuch',
      'changing the virtual server [fd00:96::a]:53/UDP was rejected: ESRCH: there is no such virtual server',
      'adding the real server 10.244.1.5:8080 of 10.96.0.1:80/TCP was rejected: EEXIST: it exists already',
      'adding the real server [fd00::1]:1 of [fd00:96::a]:53/UDP was rejected: ESRCH: there is no such virtual server',
      'changing the real server 10.244.1.5:1 of 10.96.0.1:80/TCP was rejected: ENOENT: there is no such real server',
      'deleting the real server 10.244.1.5:2 of 10.96.0.1:80/TCP was rejected: ENOENT: there is no such real server',
      'deleting the virtual server [fd00:96::a]:53/UDP was rejected: ESRCH: there is no such virtual server',
      undefined,
    ]);
    expect(outcomes.slice(0, -1).every((outcome) => outcome instanceof NetlinkRequestError)).toBe(true);
    expect(await saved()).toContain('-a -t 10.96.0.1:80 -r 10.244.1.5:8080 -m -w 0');
  });

  it('are written and listed by the thousand', async () => {
    const many = Array.from({ length: 1000 }, (_, i) =>
      virtualServer(`10.96.${i >> 8}.${i & 255}`, 'TCP', 80),
    );
    const reals = [1, 2, 3].map((host) => ({ address: `10.244.0.${host}`, port: 80, weight: 1 }));
    const outcomes = await servers.apply(
      many.flatMap((server): VirtualServerStep[] => [
        { kind: 'add', server },
        ...reals.map((real) => ({ kind: 'add-real' as const, server, real })),
      ]),
    );
    expect(outcomes).toHaveLength(4000);
    expect(outcomes.filter(Boolean)).toEqual([]);
    const listed = await servers.list('IPv4');
    expect(new Set(listed.map(({ address }) => address))).toEqual(
      new Set(many.map(({ address }) => address)),
    );
    expect(listed.every(({ realServers }) => realServers.length === 3)).toBe(true);
    expect((await saved()).length).toBe(4000);
    const stopped = AbortSignal.abort(new Error('enough'));
    await expect(servers.list('IPv4', stopped)).rejects.toThrow('enough');
  });

  it('try a scheduler without leaving a trace or changing other virtual servers', async () => {
    const own = virtualServer('198.51.100.0', 'TCP', 20000, { scheduler: 'wrr' });
    await done({ kind: 'add', server: own });
    expect(await servers.hasScheduler('lc')).toBe(true);
    expect(await servers.hasScheduler('nonesuch')).toBe(false);
    for (const bad of ['none', '', 'a name that is far too long', '../../x'])
      expect(await servers.hasScheduler(bad)).toBe(false);
    expect(await saved()).toEqual(['-A -t 198.51.100.0:20000 -s wrr']);
    expect(await tool('lsmod')).toMatch(/^ip_vs_lc /m);
  });

  it('set the timeouts that are not 0', async () => {
    await servers.setTimeouts({ tcp: 901, tcpFin: 121, udp: 301 });
    await servers.setTimeouts({ tcp: 0, tcpFin: 60, udp: 0 });
    expect(await tool('ipvsadm', '-L', '--timeout')).toContain('901 60 301');
  });

  it('are found again after the module was reloaded', async () => {
    await tool(
      'modprobe',
      '-r',
      'ip_vs_rr',
      'ip_vs_wlc',
      'ip_vs_mh',
      'ip_vs_sh',
      'ip_vs_wrr',
      'ip_vs_lc',
      'ip_vs',
    );
    await expect(servers.list('IPv4')).rejects.toThrow('listing the virtual servers was rejected: ENOENT');
    expect(await servers.list('IPv4')).toEqual([]);
    await done({ kind: 'add', server: web });
  });

  it('belong to root', async () => {
    await done({ kind: 'add', server: web });
    await asNobody(async () => {
      const others = new NetlinkVirtualServers();
      await expect(others.apply([{ kind: 'delete', server: web }])).rejects.toThrow(
        'deleting the virtual server 10.96.0.1:80/TCP: not permitted: CAP_NET_ADMIN is needed',
      );
      await expect(others.list('IPv4')).rejects.toThrow(NetlinkPermissionError);
      others.close();
    });
    expect(await saved()).toEqual(['-A -t 10.96.0.1:80 -s rr']);
  });

  it('are unavailable after closing', async () => {
    const closed = new NetlinkVirtualServers();
    closed.close();
    closed.close();
    await expect(closed.list('IPv4')).rejects.toThrow('closed');
  });
});
