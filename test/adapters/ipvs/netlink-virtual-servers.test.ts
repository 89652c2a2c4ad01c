import { NetlinkVirtualServers } from '../../../src/adapters/ipvs/netlink-virtual-servers.js';
import type { VirtualServerStep } from '../../../src/adapters/ipvs/ipvs-kernel.js';
import { NETLINK_GENERIC } from '../../../src/adapters/netlink/protocol.js';
import { HASH_SOURCE_PORT, PERSISTENT, type VirtualServer } from '../../../src/domain/ipvs/virtual-server.js';
import type { Protocol } from '../../../src/domain/model/service-port-name.js';
import { Generic } from '../../simulation/kernel/generic.js';
import { KernelUnderTest } from '../../simulation/kernel/kernel-under-test.js';
import { addressBytes } from '../../simulation/kernel/netlink/addresses.js';
import { MessageBuilder } from '../../simulation/kernel/netlink/message-builder.js';
import { AF, E, NLM_F } from '../../simulation/kernel/netlink/numbers.js';
import { CMD_ATTR, COMMAND, IpvsFamily, SVC_ATTR } from '../../simulation/kernel/ipvs/ipvs-family.js';
import type { ServerId } from '../../simulation/kernel/ipvs/virtual-server.js';
import { VirtualServers } from '../../simulation/kernel/ipvs/virtual-servers.js';

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
const real = { address: '10.244.1.5', port: 8080, weight: 1 };
const webId: ServerId = { family: AF.INET, protocol: 6, address: '10.96.0.1', port: 80 };
const none = { activeConnections: 0, inactiveConnections: 0 };

let kernel: KernelUnderTest;
let servers: VirtualServers;
let family: IpvsFamily;
let generic: Generic;
let program: NetlinkVirtualServers;
let changes: number[];

beforeEach(() => {
  kernel = new KernelUnderTest();
  servers = new VirtualServers();
  family = new IpvsFamily(servers);
  generic = new Generic();
  generic.load(family);
  kernel.protocols.set(NETLINK_GENERIC, generic);
  changes = [];
  servers.onChange = ({ process }) => void changes.push(process);
  program = new NetlinkVirtualServers(() => kernel.open(NETLINK_GENERIC));
});

const messages = (outcomes: readonly (Error | undefined)[]): (string | undefined)[] =>
  outcomes.map((outcome) => outcome?.message);

async function done(...steps: VirtualServerStep[]): Promise<void> {
  expect(messages(await program.apply(steps))).toEqual(steps.map(() => undefined));
}

/** As a check sees them. */
const seen = (): unknown[] =>
  [...servers.view().values()].map(({ destinations, ...server }) => ({
    ...server,
    destinations: [...destinations.values()].map(
      ({ address, port, weight }) => `${address} ${port} ${weight}`,
    ),
  }));

/** What a kernel in user-mode Linux does, too (test/kernel/uml/inside/virtual-servers.ts). */
describe('virtual servers of the program', () => {
  it('are there as it wanted them', async () => {
    await done(
      { kind: 'add', server: web },
      { kind: 'add-real', server: web, real },
      { kind: 'add-real', server: web, real: { ...real, address: '10.244.2.6', weight: 0 } },
      { kind: 'add', server: sticky },
      { kind: 'add', server: dns },
      { kind: 'add-real', server: dns, real: { address: 'fd00:244::5', port: 53, weight: 1 } },
      {
        kind: 'add',
        server: virtualServer('10.96.0.4', 'SCTP', 80, { scheduler: 'mh', flags: HASH_SOURCE_PORT }),
      },
    );
    const [all, length] = [0xffff_ffff, 128];
    expect(seen()).toEqual([
      expect.objectContaining({
        ...webId,
        ...{ scheduler: 'rr', flags: 0, timeout: 0, netmask: all },
        destinations: ['10.244.1.5 8080 1', '10.244.2.6 8080 0'],
      }),
      expect.objectContaining({ address: '10.96.0.2', flags: 1, timeout: 10800, netmask: all }),
      expect.objectContaining({
        ...{ family: 10, protocol: 17, address: 'fd00:96::a', scheduler: 'wlc', netmask: length },
        destinations: ['fd00:244::5 53 1'],
      }),
      expect.objectContaining({ protocol: 132, scheduler: 'mh', flags: 0x10 }),
    ]);
    expect(changes).toEqual(Array.from({ length: 7 }, () => kernel.process));
  });

  it('are found and listed, also those of others', async () => {
    await done(
      { kind: 'add', server: web },
      { kind: 'add-real', server: web, real },
      { kind: 'add', server: dns },
    );
    const settings = { scheduler: 'sh', flags: 0x18, timeout: 0, netmask: 0xffff_ffff };
    const theirs = { ...webId, address: '192.0.2.1', port: 21 };
    servers.add(theirs, settings);
    const way = { forwarding: 3, weight: 7 };
    servers.addDestination(theirs, { family: AF.INET, address: '192.0.2.2', port: 21, ...way });
    expect(await program.list('IPv4')).toEqual([
      { ...web, realServers: [{ ...real, ...none }] },
      {
        ...virtualServer('192.0.2.1', 'TCP', 21, { scheduler: 'sh', flags: 0x18 }),
        realServers: [{ address: '192.0.2.2', port: 21, weight: 7, ...none }],
      },
    ]);
    expect(await program.list('IPv6')).toEqual([{ ...dns, realServers: [] }]);
    expect(await program.find(web)).toMatchObject({ realServers: [real] });
    expect(await program.find({ ...web, protocol: 'UDP' })).toBeUndefined();
    expect(await program.find({ ...web, port: 0 })).toBeUndefined();
    expect(await program.realServers(virtualServer('10.96.9.9', 'TCP', 80))).toEqual([]);
  });

  it('are changed in place, and deleted', async () => {
    const other = { ...real, address: '10.244.1.6' };
    await done(
      { kind: 'add', server: web },
      { kind: 'add-real', server: web, real },
      { kind: 'add-real', server: web, real: other },
      { kind: 'add', server: dns },
      { kind: 'set', server: { ...web, scheduler: 'sh', flags: PERSISTENT, persistenceSeconds: 30 } },
      { kind: 'set-real', server: web, real: { ...real, weight: 0 } },
      { kind: 'delete-real', server: web, real: other },
      { kind: 'delete', server: dns },
    );
    expect(seen()).toMatchObject([
      { scheduler: 'sh', flags: 1, timeout: 30, destinations: ['10.244.1.5 8080 0'] },
    ]);
    await done({ kind: 'set', server: web });
    expect(seen()).toMatchObject([{ scheduler: 'rr', flags: 0, destinations: ['10.244.1.5 8080 0'] }]);
    servers.flush();
    expect(servers.view().size).toBe(0);
  });

  it('are each refused for themselves', async () => {
    await done({ kind: 'add', server: web }, { kind: 'add-real', server: web, real });
    const outcomes = await program.apply([
      { kind: 'add', server: web },
      { kind: 'add', server: { ...sticky, scheduler: 'nonesuch' } },
      { kind: 'set', server: dns },
      { kind: 'add-real', server: web, real },
      { kind: 'add-real', server: dns, real: { address: 'fd00::1', port: 1, weight: 1 } },
      { kind: 'set-real', server: web, real: { ...real, port: 1 } },
      { kind: 'delete-real', server: web, real: { ...real, port: 2 } },
      { kind: 'delete', server: dns },
      { kind: 'add-real', server: web, real: { ...real, address: '224.0.0.1' } },
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
      'adding the real server 224.0.0.1:8080 of 10.96.0.1:80/TCP was rejected: EINVAL',
      undefined,
    ]);
    expect(changes).toHaveLength(3);
  });

  it('may be many', async () => {
    const many = Array.from({ length: 1000 }, (_, i) =>
      virtualServer(`10.96.${i >> 8}.${i & 255}`, 'TCP', 80),
    );
    await done(
      ...many.flatMap((server): VirtualServerStep[] => [
        { kind: 'add', server },
        { kind: 'add-real', server, real },
      ]),
    );
    const listed = await program.list('IPv4');
    expect(listed.map(({ address }) => address)).toEqual(many.map(({ address }) => address));
    expect(listed.every(({ realServers }) => realServers.length === 1)).toBe(true);
  });
});

describe('real servers with clients', () => {
  it('tell how many there are, and still have them when they come back', async () => {
    const to = { address: real.address, port: real.port };
    await done({ kind: 'add', server: web }, { kind: 'add-real', server: web, real });
    servers.countConnections(webId, to, { activeConnections: 2, inactiveConnections: 1 });
    const counted = { ...real, activeConnections: 2, inactiveConnections: 1 };
    expect(await program.realServers(web)).toEqual([counted]);
    await done({ kind: 'delete-real', server: web, real });
    expect(await program.realServers(web)).toEqual([]);
    await done({ kind: 'add-real', server: web, real });
    expect(await program.realServers(web)).toEqual([counted]);
    await done({ kind: 'delete-real', server: web, real });
    expect(servers.countConnections(webId, to, none)).toBe(true);
    expect(servers.countConnections(webId, to, none)).toBe(false);
    await done({ kind: 'add-real', server: web, real });
    expect(await program.realServers(web)).toEqual([{ ...real, ...none }]);
  });
});

describe('the kernel', () => {
  it('changes only the flags that a request names', async () => {
    await done({ kind: 'add', server: sticky });
    const socket = kernel.open(NETLINK_GENERIC);
    const builder = new MessageBuilder();
    builder.begin(0x1c, NLM_F.REQUEST, 1, 0).raw(Buffer.of(COMMAND.SET_SERVICE, 1, 0, 0));
    builder.nest(CMD_ATTR.SERVICE, () => {
      builder.u16(SVC_ATTR.AF, AF.INET).u16(SVC_ATTR.PROTOCOL, 6);
      builder.attribute(SVC_ATTR.ADDR, addressBytes(sticky.address)).be16(SVC_ATTR.PORT, sticky.port);
      builder.text(SVC_ATTR.SCHED_NAME, 'sh').u32(SVC_ATTR.TIMEOUT, 60).be32(SVC_ATTR.NETMASK, 0xffff_ff00);
      // Of the flags 0x1a the one of 0x8.
      builder.attribute(SVC_ATTR.FLAGS, Buffer.of(0x1a, 0, 0, 0, 0x08, 0, 0, 0));
    });
    const request = builder.end().take();
    await socket.send(request, request.length);
    expect(socket.collectReplies().replies).toEqual([]);
    expect(seen()).toMatchObject([{ scheduler: 'sh', flags: 0x9, timeout: 60, netmask: 0xffff_ff00 }]);
    socket.close();
  });

  it('tries a scheduler', async () => {
    expect(await program.hasScheduler('lc')).toBe(true);
    expect(await program.hasScheduler('nonesuch')).toBe(false);
    expect(servers.view().size).toBe(0);
  });

  it('refuses what it is to refuse', async () => {
    family.refuseNext(E.ENOMEM, 2);
    const outcomes = await program.apply(
      [web, sticky, dns].map((server) => ({ kind: 'add', server }) as const),
    );
    expect(messages(outcomes)).toEqual([
      expect.stringContaining('ENOMEM'),
      expect.stringContaining('ENOMEM'),
      undefined,
    ]);
    family.refuseQuestions(E.EINVAL);
    await expect(program.list('IPv6')).rejects.toThrow('EINVAL');
  });

  it('may lose its module, which has another number when it comes back', async () => {
    await done({ kind: 'add', server: web });
    generic.unload('IPVS');
    await expect(program.list('IPv4')).rejects.toThrow('ENOENT');
    await expect(program.list('IPv4')).rejects.toThrow('modprobe ip_vs');
    generic.load(family);
    expect(await program.list('IPv4')).toHaveLength(1);
  });

  it('misses a virtual server in a listing during which others go', async () => {
    const many = Array.from({ length: 300 }, (_, i) =>
      virtualServer(`10.96.${i >> 8}.${i & 255}`, 'TCP', 80),
    );
    await done(...many.map((server) => ({ kind: 'add', server }) as const));
    const listing = program.list('IPv4');
    await Promise.resolve();
    for (const { address } of many.slice(0, 10)) servers.delete({ ...webId, address });
    expect((await listing).length).toBe(290);
  });
});
