import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CT_EVENT } from '../../../src/adapters/conntrack/ctnetlink.js';
import { NetlinkFlowEvents } from '../../../src/adapters/conntrack/netlink-flow-events.js';
import { NetlinkSocket, type NetlinkSocketOptions } from '../../../src/adapters/netlink/netlink-socket.js';
import { NETLINK_NETFILTER, NLM_F_CREATE, NLMSG_DONE } from '../../../src/adapters/netlink/protocol.js';
import { ConntrackUnavailableError } from '../../../src/application/ports/node/conntrack.js';
import type { SeenFlow } from '../../../src/domain/conntrack/flow.js';
import { errorMessage, FakeLibc, plainMessage } from '../../support/fake-libc.js';
import { connectionMessage, type ToldConnection } from '../../support/traffic/conntrack-messages.js';

const [EPERM, ENOBUFS] = [1, 105];
const told: ToldConnection = {
  type: CT_EVENT.new,
  flags: NLM_F_CREATE,
  protocol: 6,
  client: '10.244.1.7',
  clientPort: 40_001,
  destination: '10.96.7.1',
  destinationPort: 80,
  endpoint: '10.244.2.11',
  endpointPort: 8080,
  status: 0,
  id: 7,
};

let opened: { readonly libc: FakeLibc; readonly options: NetlinkSocketOptions }[];
let next: FakeLibc;
let folder: string;
let events: NetlinkFlowEvents;
beforeEach(() => {
  opened = [];
  next = new FakeLibc();
  folder = mkdtempSync(join(tmpdir(), 'sysctls-'));
  events = eventsOf(false);
});

function eventsOf(throughIpvs: boolean): NetlinkFlowEvents {
  return new NetlinkFlowEvents({
    throughIpvs,
    sysctls: folder,
    openSocket: (options) => {
      opened.push({ libc: next, options });
      return NetlinkSocket.open(NETLINK_NETFILTER, { ...options, libc: next });
    },
  });
}

afterEach(() => rmSync(folder, { recursive: true }));

/** What a read tells, flows as values. */
function read() {
  const seen: [what: string, flow: object][] = [];
  const note = (what: string) => (flow: SeenFlow) => void seen.push([what, valueOf(flow)]);
  const result = events.read({ began: note('began'), changed: note('changed'), ceased: note('ceased') });
  return { ...result, seen };
}

function valueOf({
  id,
  family,
  protocol,
  destination,
  destinationPort,
  replySource,
  replied,
  closed,
  bytes,
}: SeenFlow) {
  return { id, family, protocol, destination, destinationPort, replySource, replied, closed, bytes };
}

const begun = {
  id: 7 * 0x1_0000 + 40_001,
  family: 'IPv4',
  protocol: 'TCP',
  destination: '10.96.7.1',
  destinationPort: 80,
  replySource: '10.244.2.11:8080',
  replied: false,
  closed: false,
  bytes: undefined,
};

it('hears all groups of events, with room for them, through a filter', () => {
  events.open();
  events.open();
  expect(opened.map(({ options }) => options)).toEqual([{ groups: 0b111, receiveBuffer: 8 * 2 ** 20 }]);
  expect(next.filters).toHaveLength(1);
  events.sample(4);
  expect(next.filters).toHaveLength(2);
  expect(next.filters[1]!.length).toBeGreaterThan(next.filters[0]!.length);
  events.close();
  events.close();
  expect(next.closed).toHaveLength(1);
});

it('tells beginnings, changes and ends in their order', () => {
  events.open();
  const ipv6 = { client: 'fd00::7', destination: 'fd00::1', endpoint: 'fd00::11', protocol: 17 };
  next.incoming = [
    connectionMessage(told),
    connectionMessage({ ...told, flags: 0, status: 2, tcpState: 2 }),
    connectionMessage({ ...told, flags: 0, status: 6, tcpState: 7 }),
    connectionMessage({ ...told, type: CT_EVENT.delete, flags: 0, status: 6, bytes: 500 }),
    connectionMessage({ ...told, ...ipv6 }),
    connectionMessage({ ...told, protocol: 1 }),
  ];
  expect(read()).toEqual({
    count: 6,
    lost: false,
    seen: [
      ['began', begun],
      ['changed', { ...begun, replied: true }],
      ['changed', { ...begun, replied: true, closed: true }],
      ['ceased', { ...begun, replied: true, bytes: 1_000 }],
      [
        'began',
        { ...begun, family: 'IPv6', protocol: 'UDP', destination: 'fd00::1', replySource: '[fd00::11]:8080' },
      ],
    ],
  });
  expect(read()).toEqual({ count: 0, lost: false, seen: [] });
});

it('says that events were lost, and goes on', () => {
  events.open();
  next.incoming = [ENOBUFS, connectionMessage(told)];
  expect(read()).toMatchObject({ count: 1, lost: true });
});

it('leaves out what was on its way when the sample became smaller', () => {
  events.open();
  const ports = Array.from({ length: 64 }, (_, i) => 40_000 + i);
  events.sample(3);
  next.incoming = ports.map((clientPort) => connectionMessage({ ...told, clientPort }));
  const { seen } = read();
  expect(seen.length).toBeGreaterThan(0);
  expect(seen.length).toBeLessThan(32);
});

it('is unavailable where there is no permission', () => {
  next.bindError = EPERM;
  expect(() => events.open()).toThrow(ConntrackUnavailableError);
  next = new FakeLibc();
  next.filterError = EPERM;
  expect(() => events.open()).toThrow(/SO_ATTACH_FILTER/);
  expect(next.closed).toHaveLength(1);
});

describe('a walk', () => {
  const flows = (from: number, count: number): Buffer =>
    Buffer.concat(
      Array.from({ length: count }, (_, i) =>
        connectionMessage({ ...told, sequence: 1, clientPort: from + i, bytes: 40 }),
      ),
    );
  const never = new AbortController().signal;

  it('finds all connections, and pauses after each datagram with their number', async () => {
    next.incoming = [flows(1, 3), flows(10, 2), Buffer.concat([plainMessage(NLMSG_DONE, 1)])];
    const found: number[] = [];
    const pauses: number[] = [];
    await events.walk(
      ({ id, bytes }) => {
        expect(bytes).toBe(80);
        found.push(id % 0x1_0000);
      },
      async (walked) => void pauses.push(walked),
      never,
    );
    expect(found).toEqual([1, 2, 3, 10, 11]);
    expect(pauses).toEqual([3, 2]);
    expect(next.closed).toHaveLength(1);
  });

  it('ends with the reason when it is aborted, or the kernel rejects', async () => {
    const stopping = new AbortController();
    next.incoming = [flows(1, 3), flows(10, 2)];
    const aborted = events.walk(
      () => stopping.abort(new Error('enough')),
      async () => {},
      stopping.signal,
    );
    await expect(aborted).rejects.toThrow('enough');
    expect(next.closed).toHaveLength(1);
    next = new FakeLibc();
    next.incoming = [errorMessage(1, EPERM)];
    await expect(
      events.walk(
        () => {},
        async () => {},
        never,
      ),
    ).rejects.toThrow(/listing tracked connections/);
    expect(next.closed).toHaveLength(1);
  });
});

it('reads how many connections there are, and whether bytes are counted', () => {
  expect(events.table()).toEqual({
    count: 0,
    countsBytes: false,
    tracksServices: true,
    hidesDeadOnBridges: false,
  });
  mkdirSync(join(folder, 'net/netfilter'), { recursive: true });
  writeFileSync(join(folder, 'net/netfilter/nf_conntrack_count'), '1234\n');
  writeFileSync(join(folder, 'net/netfilter/nf_conntrack_acct'), '1\n');
  mkdirSync(join(folder, 'net/bridge'), { recursive: true });
  writeFileSync(join(folder, 'net/bridge/bridge-nf-call-iptables'), '1\n');
  expect(events.table()).toEqual({
    count: 1234,
    countsBytes: true,
    tracksServices: true,
    hidesDeadOnBridges: true,
  });
});

it('reads whether connections through IPVS are tracked, if they matter', () => {
  mkdirSync(join(folder, 'net/ipv4/vs'), { recursive: true });
  writeFileSync(join(folder, 'net/ipv4/vs/conntrack'), '0\n');
  const throughIpvs = eventsOf(true);
  expect([events, throughIpvs].map((each) => each.table().tracksServices)).toEqual([true, false]);
  writeFileSync(join(folder, 'net/ipv4/vs/conntrack'), '1\n');
  expect(throughIpvs.table().tracksServices).toBe(true);
});
