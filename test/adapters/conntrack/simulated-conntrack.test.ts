import { NetlinkFlowEvents } from '../../../src/adapters/conntrack/netlink-flow-events.js';
import { NetlinkConntrack } from '../../../src/adapters/conntrack/netlink-conntrack.js';
import { NETLINK_NETFILTER } from '../../../src/adapters/netlink/protocol.js';
import type { WatchedProtocol } from '../../../src/application/ports/node/conntrack.js';
import type { ConnectionActivity, SeenFlow } from '../../../src/domain/conntrack/flow.js';
import { HandTime, KernelUnderTest } from '../../simulation/kernel/kernel-under-test.js';
import { Netfilter, SUBSYSTEM } from '../../simulation/kernel/netfilter.js';
import { E } from '../../simulation/kernel/netlink/numbers.js';
import { Connections, type Target } from '../../simulation/kernel/conntrack/connections.js';
import { ConntrackProtocol } from '../../simulation/kernel/conntrack/conntrack-protocol.js';
import { IPPROTO, type Tuple } from '../../simulation/kernel/conntrack/ctnetlink.js';

const anyUdp = { protocol: 'UDP', unreplied: false } as const;
const never = new AbortController().signal;

function machine(filtersTuples = true) {
  const kernel = new KernelUnderTest();
  const time = new HandTime();
  const connections = new Connections(time);
  const protocol = new ConntrackProtocol(
    connections,
    time,
    kernel.sockets.multicastOf(NETLINK_NETFILTER),
    filtersTuples,
  );
  kernel.protocols.set(NETLINK_NETFILTER, new Netfilter(new Map([[SUBSYSTEM.CTNETLINK, protocol]])));
  const changes: number[] = [];
  connections.onChange = ({ process }) => void changes.push(process);
  const conntrack = new NetlinkConntrack(() => kernel.open(NETLINK_NETFILTER));
  const events = new NetlinkFlowEvents({
    throughIpvs: false,
    openSocket: (more) => kernel.open(NETLINK_NETFILTER, more),
  });
  return { kernel, time, connections, protocol, conntrack, events, changes };
}

const udp = (client: number, more: Partial<Tuple> = {}): Tuple => ({
  ...{ protocol: IPPROTO.UDP, source: `10.0.${client >> 8}.${client & 255}`, sourcePort: 4000 },
  ...{ destination: '10.96.0.10', destinationPort: 53, ...more },
});
const to =
  (address: string, port = 53) =>
  (): Target => ({ address, port });

describe('looks of the program at connections', () => {
  const tcp = (client: number) => udp(client, { protocol: IPPROTO.TCP });
  const everything = [{}];

  /** Established connections to an endpoint, found; and what a look at them tells, by client. */
  async function watched(clients: number, protocol: WatchedProtocol = 'TCP') {
    const { connections, conntrack, ...rest } = machine();
    connections.sysctls.set('nf_conntrack_acct', 1);
    for (let client = 1; client <= clients; client++) {
      const tuple = { ...tcp(client), protocol: IPPROTO[protocol] };
      connections.open(tuple, to('10.244.1.5'));
      connections.answer(connections.find(tuple)!);
      connections.send(connections.find(tuple)!);
    }
    const { found } = await conntrack.find('IPv4', protocol, everything, () => true, never);
    const look = async (isDead: (look: ConnectionActivity) => boolean = () => false) => {
      const told: (ConnectionActivity | undefined)[] = [];
      const outcome = await conntrack.poll(
        'IPv4',
        found,
        (_, seen) => {
          told.push(
            seen && { sent: seen.sent, answered: seen.answered, unacknowledged: seen.unacknowledged },
          );
          return seen !== undefined && isDead(seen);
        },
        never,
      );
      return { told, ...outcome };
    };
    return { connections, conntrack, found, look, ...rest };
  }

  it('find what was answered, is not closed and leads to an endpoint', async () => {
    const { connections, conntrack } = await watched(3);
    connections.open(tcp(4), to('10.244.1.5'));
    connections.open(tcp(5), to('10.244.1.6'));
    connections.answer(connections.find(tcp(5))!);
    connections.close(connections.find(tcp(2))!);
    const places = [
      { address: '10.244.1.5', port: 53 },
      { address: '10.244.1.5', port: 54 },
    ];
    const { found, examined } = await conntrack.find('IPv4', 'TCP', places, () => true, never);
    expect(examined).toBe(3);
    expect(found).toMatchObject(
      [1, 3].map(() => ({ destination: '10.96.0.10', replySource: '10.244.1.5:53' })),
    );
    const all = await conntrack.find(
      'IPv4',
      'TCP',
      everything,
      ({ replySource }) => replySource === '10.244.1.6:53',
      never,
    );
    expect([all.examined, all.found.length]).toEqual([4, 1]);
  });

  it('tell what happened since the look before, each time anew', async () => {
    const { connections, look } = await watched(1);
    const connection = connections.find(tcp(1))!;
    const nothing = { sent: false, answered: false, unacknowledged: true };
    expect((await look()).told).toEqual([{ sent: true, answered: true, unacknowledged: true }]);
    expect((await look()).told).toEqual([nothing]);
    connections.send(connection);
    expect((await look()).told).toEqual([{ ...nothing, sent: true }]);
    connections.answer(connection);
    expect((await look()).told).toEqual([{ sent: false, answered: true, unacknowledged: false }]);
    expect((await look()).told).toEqual([{ ...nothing, unacknowledged: false }]);
  });

  it('of SCTP do not take a mere acknowledgement for something that wants an answer', async () => {
    const { connections, look } = await watched(1, 'SCTP');
    const connection = connections.find({ ...tcp(1), protocol: IPPROTO.SCTP })!;
    const nothing = { sent: false, answered: false, unacknowledged: false };
    const [ACKNOWLEDGEMENT, SHORT_HEARTBEAT, SMALLEST_DATA] = [48, 44, 52];
    expect((await look()).told).toEqual([nothing]);
    for (let count = 0; count < 3; count++) connections.send(connection, ACKNOWLEDGEMENT);
    expect((await look()).told).toEqual([{ ...nothing, sent: true }]);
    expect((await look()).told).toEqual([nothing]);
    for (const bytes of [ACKNOWLEDGEMENT, SMALLEST_DATA]) connections.send(connection, bytes);
    expect((await look()).told).toEqual([{ sent: true, answered: false, unacknowledged: true }]);
    connections.answer(connection);
    expect((await look()).told).toEqual([{ ...nothing, answered: true }]);
    connections.send(connection, SHORT_HEARTBEAT);
    expect((await look()).told).toEqual([{ sent: true, answered: false, unacknowledged: true }]);
  });

  it('of SCTP take packets of that size for heartbeats when they go on and on', async () => {
    const { connections, look } = await watched(1, 'SCTP');
    const connection = connections.find({ ...tcp(1), protocol: IPPROTO.SCTP })!;
    const unacknowledged: (boolean | undefined)[] = [];
    for (let count = 0; count < 4; count++) {
      connections.send(connection, 48);
      unacknowledged.push((await look()).told[0]?.unacknowledged);
    }
    expect(unacknowledged).toEqual([false, false, true, true]);
  });

  it('remove what is dead, and say what is gone, closed or another one by now', async () => {
    const { connections, look } = await watched(300);
    for (const client of [1, 2, 3]) connections.remove(connections.find(tcp(client))!);
    connections.close(connections.find(tcp(4))!);
    connections.open(udp(3, { protocol: IPPROTO.TCP, destination: '10.96.0.11' }), to('10.244.1.5'));
    const { told, deleted } = await look(() => true);
    expect([told.filter((one) => one === undefined).length, deleted]).toEqual([4, 296]);
    expect(connections.count).toBe(2);
  });

  it('say what was refused', async () => {
    const { look, protocol } = await watched(3);
    protocol.refuseNext(E.EBUSY);
    expect(await look()).toMatchObject({ deleted: 0, problem: { message: /marking.*EBUSY/ } });
    protocol.refuseNext(E.EBUSY);
    expect(await look(() => true)).toMatchObject({ deleted: 2, problem: { message: /removing.*EBUSY/ } });
    protocol.refuseNext(E.EPERM);
    await expect(look(() => true)).rejects.toThrow('CAP_NET_ADMIN');
  });
});

describe('sweeps of the program', () => {
  const stale = (address: string) => (flow: { replySource: string }) => flow.replySource === `${address}:53`;

  it('remove what leads to an endpoint, and nothing else', async () => {
    const { connections, conntrack, changes, kernel } = machine();
    for (let client = 1; client <= 600; client++)
      connections.open(udp(client), to(`10.244.1.${client % 3}`), client === 9 ? { zone: 7 } : {});
    connections.open(udp(1, { destination: '10.96.0.11' }), to('10.244.1.0'));
    connections.open(udp(1, { protocol: IPPROTO.TCP }), to('10.244.1.0'));
    const { examined, deleted, problem } = await conntrack.sweep(
      'IPv4',
      { ...anyUdp, address: '10.96.0.10', port: 53 },
      stale('10.244.1.0'),
      never,
    );
    expect({ examined, deleted, problem }).toEqual({ examined: 600, deleted: 200, problem: undefined });
    expect(connections.count).toBe(402);
    expect(changes).toEqual(Array.from({ length: 200 }, () => kernel.process));
  });

  it('work without filters in the kernel', async () => {
    const { connections, conntrack } = machine(false);
    connections.open(udp(1), to('10.244.1.5'));
    connections.open(udp(1, { destination: '10.96.0.11' }), to('10.244.1.5'));
    const query = { ...anyUdp, address: '10.96.0.10', port: 53 };
    const examined = ({ destination }: { destination: string }): boolean => destination === '10.96.0.10';
    const { deleted } = await conntrack.sweep('IPv4', query, examined, never);
    expect([deleted, connections.count]).toEqual([1, 1]);
  });

  it('remove unreplied connections of another protocol, and leave what was answered', async () => {
    const { connections, conntrack } = machine();
    const tcp = (client: number) => udp(client, { protocol: IPPROTO.TCP });
    for (const client of [1, 2, 3]) connections.open(tcp(client), to('10.244.1.5'));
    connections.answer(connections.find(tcp(2))!);
    connections.open(udp(1), to('10.244.1.5'));
    const query = { protocol: 'TCP', unreplied: true, port: 53 } as const;
    expect(await conntrack.sweep('IPv4', query, () => true, never)).toEqual({ examined: 2, deleted: 2 });
    expect([...connections.list()].map(({ original }) => original)).toEqual([tcp(2), udp(1)]);
  });

  it('remove flows of IPv6', async () => {
    const { connections, conntrack } = machine();
    const tuple = { source: 'fd00::1', destination: 'fd00:96::a' };
    connections.open(udp(1, tuple), to('fd00:244::5'));
    connections.open(udp(2), to('10.244.1.5'));
    const all = await conntrack.sweep('IPv6', { ...anyUdp, port: 53 }, () => true, never);
    expect(all).toEqual({ examined: 1, deleted: 1 });
    expect(connections.count).toBe(1);
  });

  it('spare a flow that the client began again meanwhile', async () => {
    const { connections, conntrack } = machine();
    connections.open(udp(1), to('10.244.1.5'));
    const { deleted } = await conntrack.sweep(
      'IPv4',
      anyUdp,
      () => {
        connections.remove(connections.find(udp(1))!);
        connections.open(udp(1), to('10.244.1.6'));
        return true;
      },
      never,
    );
    expect(deleted).toBe(0);
    expect(connections.find(udp(1))!.reply.source).toBe('10.244.1.6');
  });

  it('spare a flow of another Service that has the same answers meanwhile', async () => {
    const { connections, conntrack } = machine();
    connections.open(udp(1), to('10.244.1.5'));
    const other = udp(1, { destination: '10.96.0.11' });
    const { deleted } = await conntrack.sweep(
      'IPv4',
      anyUdp,
      () => {
        connections.remove(connections.find(udp(1))!);
        connections.open(other, to('10.244.1.5'));
        return true;
      },
      never,
    );
    expect(deleted).toBe(0);
    expect(connections.find(other)).toBeDefined();
  });

  it('repeat a listing that was interrupted', async () => {
    const { connections, conntrack, protocol } = machine();
    for (let client = 1; client <= 50; client++) connections.open(udp(client), to('10.244.1.5'));
    protocol.interruptListings(2);
    expect(await conntrack.sweep('IPv4', anyUdp, () => false, never)).toEqual({ examined: 150, deleted: 0 });
    protocol.interruptListings(5);
    const { problem } = await conntrack.sweep('IPv4', anyUdp, () => false, never);
    expect(problem!.message).toBe('listing tracked connections was interrupted 5 times');
  });

  it('tell what was refused', async () => {
    const { connections, conntrack, protocol } = machine();
    for (const client of [1, 2, 3]) connections.open(udp(client), to('10.244.1.5'));
    protocol.refuseNext(E.EBUSY);
    const busy = await conntrack.sweep('IPv4', anyUdp, () => true, never);
    expect(busy).toMatchObject({ deleted: 2, problem: { message: /EBUSY/ } });
    protocol.refuseListings(E.ENOMEM);
    const { problem } = await conntrack.sweep('IPv4', anyUdp, () => true, never);
    expect(problem!.message).toMatch(/ENOMEM/);
    protocol.refuseListings(E.EPERM);
    await expect(conntrack.sweep('IPv4', anyUdp, () => true, never)).rejects.toThrow('CAP_NET_ADMIN');
  });

  it('do without filters of the kernel where it has none', async () => {
    const { connections, conntrack, protocol } = machine();
    connections.open(udp(1), to('10.244.1.5'));
    protocol.refuseListings(E.EINVAL);
    expect(await conntrack.sweep('IPv4', anyUdp, () => true, never)).toMatchObject({ deleted: 1 });
  });
});

describe('events', () => {
  interface Told {
    readonly began: string[];
    readonly changed: string[];
    readonly ceased: string[];
  }

  function heard(events: NetlinkFlowEvents): Told & { readonly lost: boolean } {
    const told: Told = { began: [], changed: [], ceased: [] };
    const text = ({ destination, destinationPort, replySource, replied, closed, bytes }: SeenFlow): string =>
      [`${destination}:${destinationPort}`, replySource, replied && 'replied', closed && 'closed', bytes]
        .filter(Boolean)
        .join(' ');
    const { lost } = events.read({
      began: (flow) => told.began.push(text(flow)),
      changed: (flow) => told.changed.push(text(flow)),
      ceased: (flow) => told.ceased.push(text(flow)),
    });
    return { ...told, lost };
  }

  it('tell of the life of a connection, but not of what its packets change while it lasts', () => {
    const { connections, events, time } = machine();
    connections.sysctls.set('nf_conntrack_acct', 1);
    events.open();
    const web = udp(1, { protocol: IPPROTO.TCP, destinationPort: 80 });
    const flow = connections.open(web, to('10.244.1.5', 8080))!;
    connections.answer(flow);
    connections.send(flow, 1_000);
    connections.answer(flow, 2_000);
    expect(heard(events)).toEqual({
      began: ['10.96.0.10:80 10.244.1.5:8080'],
      changed: ['10.96.0.10:80 10.244.1.5:8080 replied'],
      ceased: [],
      lost: false,
    });
    connections.close(flow);
    time.pass(200_000);
    expect(heard(events)).toMatchObject({
      changed: ['10.96.0.10:80 10.244.1.5:8080 replied closed'],
      ceased: ['10.96.0.10:80 10.244.1.5:8080 replied closed 3120'],
    });
  });

  it('are those of a sample, as a walk is, if the program says so', async () => {
    const { connections, events } = machine();
    events.sample(3);
    events.open();
    const count = 2_000;
    for (let client = 0; client < count; client++) connections.open(udp(client), to('10.244.1.5'));
    for (let client = 0; client < count; client++)
      connections.open(
        udp(client, { source: `fd00::${(client + 1).toString(16)}`, destination: 'fd00:96::a' }),
        to('fd00:244::5'),
      );
    const { began } = heard(events);
    expect(began.length / (2 * count)).toBeGreaterThan(0.08);
    expect(began.length / (2 * count)).toBeLessThan(0.17);
    let walked = 0;
    await events.walk(
      () => walked++,
      async () => {},
      never,
    );
    expect(walked).toBe(began.length);
  });

  it('may be lost', () => {
    const { connections, events, kernel } = machine();
    events.open();
    kernel.sockets.loseNotifications(NETLINK_NETFILTER);
    connections.open(udp(1), to('10.244.1.5'));
    expect(heard(events)).toMatchObject({ began: [], lost: true });
    connections.open(udp(2), to('10.244.1.5'));
    expect(heard(events)).toMatchObject({ began: ['10.96.0.10:53 10.244.1.5:53'], lost: false });
  });

  it('are not told when the kernel is not to tell them', () => {
    const { connections, events } = machine();
    events.open();
    connections.sysctls.set('nf_conntrack_events', 0);
    connections.open(udp(1), to('10.244.1.5'));
    expect(heard(events).began).toEqual([]);
  });
});
