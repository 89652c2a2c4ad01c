import {
  CT_DELETE,
  CT_GET,
  CTA,
  STATUS_SEEN_REPLY,
  TUPLE,
  TUPLE_IP,
  TUPLE_PROTO,
} from '../../../src/adapters/conntrack/ctnetlink.js';
import { NetlinkConntrack } from '../../../src/adapters/conntrack/netlink-conntrack.js';
import { NetlinkUnavailableError } from '../../../src/adapters/netlink/errors.js';
import { type Libc, NetlinkSocket } from '../../../src/adapters/netlink/netlink-socket.js';
import { MessageWriter } from '../../../src/adapters/netlink/message-writer.js';
import {
  NETLINK_NETFILTER,
  NLM_F_DUMP_INTR,
  NLMSG_DONE,
  NLMSG_ERROR,
} from '../../../src/adapters/netlink/protocol.js';
import type { FlowQuery } from '../../../src/domain/conntrack/desired-flows.js';
import { ConntrackUnavailableError } from '../../../src/application/ports/node/conntrack.js';

const [EPERM, ENOENT, EAGAIN, EBUSY, EINVAL, ENOBUFS] = [1, 2, 11, 16, 22, 105];

interface Dump {
  /** So many UDP flows, to 10.96.0.10:53, answered by 10.0.0.1:1, 10.0.0.2:1, … */
  readonly flows?: number;
  /** Default: UDP. */
  readonly protocol?: 6 | 17 | 132;
  readonly errno?: number;
  readonly interrupted?: boolean;
  /** What the read after the flows fails with. */
  readonly recvErrno?: number;
}

/** A kernel that plays the given dumps, and answers deletions with the given errors, in order. */
class ScriptedKernel implements Libc {
  readonly sent: { readonly type: number; readonly bytes: Buffer }[] = [];
  readonly open = new Set<number>();
  readonly refusals: number[] = [];
  deleted = 0;
  private readonly waiting = new Map<number, (Buffer | number)[]>();
  private lastErrno = 0;
  private lastFd = 2;

  constructor(private readonly dumps: Dump[]) {}

  /** Sockets opened so far. */
  get opened(): number {
    return this.lastFd - 2;
  }

  socket(): number {
    this.open.add(++this.lastFd);
    this.waiting.set(this.lastFd, []);
    return this.lastFd;
  }

  bind(): number {
    return 0;
  }

  setsockopt(): number {
    return 0;
  }

  attachFilter(): number {
    return 0;
  }

  fcntl(): number {
    return 0;
  }

  close(fd: number): number {
    return this.open.delete(fd) ? 0 : -1;
  }

  errno(): number {
    return this.lastErrno;
  }

  send(fd: number, bytes: Buffer, length: number): number {
    for (let at = 0; at < length; at += bytes.readUInt32LE(at)) {
      const message = Buffer.from(bytes.subarray(at, at + bytes.readUInt32LE(at)));
      this.handle(fd, message.readUInt16LE(4), message);
    }
    return length;
  }

  async sendInBackground(fd: number, bytes: Buffer, length: number) {
    return { result: this.send(fd, bytes, length), errno: 0 };
  }

  recv(fd: number, bytes: Buffer): number {
    const next = this.waiting.get(fd)!.shift() ?? EAGAIN!;
    if (typeof next === 'number') {
      this.lastErrno = next;
      return -1;
    }
    next.copy(bytes);
    return next.length;
  }

  async recvInBackground(fd: number, bytes: Buffer) {
    const result = this.recv(fd, bytes);
    return { result, errno: result < 0 ? this.lastErrno : 0 };
  }

  private handle(fd: number, type: number, bytes: Buffer): void {
    this.sent.push({ type, bytes });
    const sequence = bytes.readUInt32LE(8);
    const replies = this.waiting.get(fd)!;
    if (type === CT_DELETE) {
      const errno = this.refusals.shift() ?? 0;
      if (errno === 0) this.deleted++;
      else replies.push(error(sequence, errno));
      return;
    }
    const { flows = 0, protocol = 17, errno = 0, interrupted = false, recvErrno } = this.dumps.shift() ?? {};
    if (errno !== 0) {
      replies.push(error(sequence, errno));
      return;
    }
    for (let i = 1; i <= flows; i++) replies.push(flowMessage(sequence, i, protocol));
    if (recvErrno !== undefined) replies.push(recvErrno);
    replies.push(done(sequence, interrupted));
  }
}

function written(writer: MessageWriter): Buffer {
  return Buffer.from(writer.bytes.subarray(0, writer.length));
}

function error(sequence: number, errno: number): Buffer {
  const writer = new MessageWriter(64);
  const start = writer.beginMessage(NLMSG_ERROR, 0, sequence);
  writer.putWord(-errno);
  for (let i = 0; i < 4; i++) writer.putWord(0);
  writer.endMessage(start);
  return written(writer);
}

function done(sequence: number, interrupted: boolean): Buffer {
  const writer = new MessageWriter(64);
  const start = writer.beginMessage(NLMSG_DONE, interrupted ? NLM_F_DUMP_INTR : 0, sequence);
  writer.putWord(0);
  writer.endMessage(start);
  return written(writer);
}

function flowMessage(sequence: number, endpoint: number, protocol: number): Buffer {
  const writer = new MessageWriter(256);
  const start = writer.beginMessage(0x100, 2, sequence);
  writer.putWord(2);
  const tuple = (
    type: number,
    source: number[],
    sourcePort: number,
    target: number[],
    port: number,
  ): void => {
    const nest = writer.beginNest(type);
    const ip = writer.beginNest(TUPLE.IP);
    writer.putBytes(TUPLE_IP.V4_SRC, Uint8Array.from(source));
    writer.putBytes(TUPLE_IP.V4_DST, Uint8Array.from(target));
    writer.endNest(ip);
    const proto = writer.beginNest(TUPLE.PROTO);
    writer.putU8(TUPLE_PROTO.NUM, protocol);
    writer.putBytes(TUPLE_PROTO.SRC_PORT, Uint8Array.of(0, sourcePort));
    writer.putBytes(TUPLE_PROTO.DST_PORT, Uint8Array.of(0, port));
    writer.endNest(proto);
    writer.endNest(nest);
  };
  tuple(CTA.TUPLE_ORIG, [10, 9, 9, 9], 77, [10, 96, 0, 10], 53);
  tuple(CTA.TUPLE_REPLY, [10, 0, 0, endpoint], 1, [10, 9, 9, 9], 77);
  if (protocol !== 17) writer.putU32(CTA.STATUS, STATUS_SEEN_REPLY);
  writer.putU32(CTA.ID, endpoint);
  writer.endMessage(start);
  return written(writer);
}

function conntrackOf(kernel: ScriptedKernel): NetlinkConntrack {
  return new NetlinkConntrack(() => NetlinkSocket.open(NETLINK_NETFILTER, { libc: kernel }));
}

const all = () => true;
const never = new AbortController().signal;
const udp: FlowQuery = { protocol: 'UDP', unreplied: false };
const port53: FlowQuery = { ...udp, port: 53, address: '10.96.0.10' };

it('shows what the flow says, and removes what is picked', async () => {
  const kernel = new ScriptedKernel([{ flows: 3 }]);
  const shown: unknown[] = [];
  const conntrack = conntrackOf(kernel);
  const result = await conntrack.sweep(
    'IPv4',
    port53,
    ({ destination, destinationPort, replySource }) => {
      shown.push({ destination, destinationPort, replySource });
      return replySource === '10.0.0.2:1';
    },
    never,
  );
  expect(result).toEqual({ examined: 3, deleted: 1 });
  expect(shown[0]).toEqual({ destination: '10.96.0.10', destinationPort: 53, replySource: '10.0.0.1:1' });
  expect(kernel.sent.map(({ type }) => type)).toEqual([CT_GET, CT_DELETE]);
  await conntrack.close();
  expect(kernel.open.size).toBe(0);
});

it('keeps two sockets, however many calls there were at a time', async () => {
  const kernel = new ScriptedKernel([{ flows: 1 }, { flows: 1 }, { flows: 1 }]);
  const conntrack = conntrackOf(kernel);
  await Promise.all([1, 2, 3].map(() => conntrack.sweep('IPv4', udp, all, never)));
  expect(kernel.open.size).toBe(2);
});

it('uses its sockets again, except for those of a call that failed', async () => {
  const kernel = new ScriptedKernel([
    { flows: 1 },
    { flows: 1 },
    { flows: 1, recvErrno: ENOBUFS! },
    { flows: 1 },
  ]);
  const conntrack = conntrackOf(kernel);
  const sweep = () => conntrack.sweep('IPv4', udp, all, never);
  await sweep();
  await sweep();
  expect([kernel.opened, kernel.open.size]).toEqual([2, 2]);
  await sweep();
  expect([kernel.opened, kernel.open.size]).toEqual([2, 0]);
  await sweep();
  expect([kernel.opened, kernel.open.size]).toEqual([4, 2]);
});

it('restarts an interrupted dump, five attempts in all, and keeps what it removed', async () => {
  const kernel = new ScriptedKernel([{ flows: 1, interrupted: true }, { flows: 2 }]);
  expect(await conntrackOf(kernel).sweep('IPv4', udp, all, never)).toEqual({ examined: 3, deleted: 3 });
  const restless = new ScriptedKernel(Array.from({ length: 9 }, () => ({ flows: 1, interrupted: true })));
  const { deleted, problem } = await conntrackOf(restless).sweep('IPv4', udp, all, never);
  expect(deleted).toBe(5);
  expect(problem?.message).toMatch(/interrupted 5 times/);
});

it('does without a filter where the kernel rejects it, and remembers', async () => {
  const kernel = new ScriptedKernel([{ errno: EINVAL! }, { flows: 1 }, { flows: 1 }]);
  const conntrack = conntrackOf(kernel);
  expect(await conntrack.sweep('IPv4', port53, all, never)).toEqual({ examined: 1, deleted: 1 });
  expect(await conntrack.sweep('IPv4', port53, all, never)).toEqual({ examined: 1, deleted: 1 });
  const lengths = kernel.sent.filter(({ type }) => type === CT_GET).map(({ bytes }) => bytes.length);
  expect(lengths).toEqual([expect.any(Number), 20, 20]);
  expect(lengths[0]).toBeGreaterThan(20);
});

it('ignores a flow that is gone, and continues after other rejections', async () => {
  const kernel = new ScriptedKernel([{ flows: 4 }]);
  kernel.refusals.push(ENOENT!, EBUSY!, 0, 0);
  const { deleted, problem } = await conntrackOf(kernel).sweep('IPv4', udp, all, never);
  expect(deleted).toBe(2);
  expect(problem?.message).toMatch(/EBUSY/);
});

it('removes in batches, and what was found before the dump broke off', async () => {
  const kernel = new ScriptedKernel([{ flows: 255 * 2, recvErrno: ENOBUFS! }]);
  const { deleted, problem } = await conntrackOf(kernel).sweep('IPv4', udp, all, never);
  expect(deleted).toBe(510);
  expect(problem?.message).toMatch(/ENOBUFS/);
  expect(kernel.open.size).toBe(0);
});

it.each([
  ['permission', new ScriptedKernel([{ errno: EPERM! }]), undefined],
  ['ctnetlink', new ScriptedKernel([{ errno: EINVAL! }, { errno: EINVAL! }]), undefined],
  ['netlink', new ScriptedKernel([]), new NetlinkUnavailableError('no koffi')],
])('says that there is no way to the table without %s', async (_, kernel, failure) => {
  const conntrack = failure
    ? new NetlinkConntrack(() => {
        throw failure;
      })
    : conntrackOf(kernel);
  await expect(conntrack.sweep('IPv4', udp, all, never)).rejects.toThrow(ConntrackUnavailableError);
  expect(kernel.open.size).toBe(0);
});

it('takes it for a failure of the moment if the kernel has listed its table before', async () => {
  const kernel = new ScriptedKernel([{ flows: 1 }, { errno: EINVAL! }, { flows: 2 }]);
  const conntrack = conntrackOf(kernel);
  await conntrack.sweep('IPv4', udp, all, never);
  expect((await conntrack.sweep('IPv4', udp, all, never)).problem?.message).toMatch(/EINVAL/);
  expect(await conntrack.sweep('IPv4', udp, all, never)).toEqual({ examined: 2, deleted: 2 });
});

/** Whether each request for connections had a filter. */
const filtered = (kernel: ScriptedKernel): readonly boolean[] =>
  kernel.sent.map(({ bytes }) => bytes.length > 20);

describe('a search for connections to endpoints', () => {
  const places = [{ port: 1 }, { port: 2 }];
  const find = (conntrack: NetlinkConntrack) => conntrack.find('IPv4', 'TCP', places, all, never);
  const tcp = { protocol: 6 } as const;

  it('has the kernel filter them, place by place with one socket, once it has seen that this works', async () => {
    const kernel = new ScriptedKernel([
      { flows: 900, ...tcp },
      { flows: 1, ...tcp },
      { flows: 2, ...tcp },
      { ...tcp },
      { flows: 1, ...tcp },
    ]);
    const conntrack = conntrackOf(kernel);
    const { problem, found } = await find(conntrack);
    expect([problem, found.length]).toEqual([undefined, 2]);
    expect([filtered(kernel), kernel.opened, kernel.open.size]).toEqual([[true, true, true, true], 3, 1]);
    expect((await find(conntrack)).found).toHaveLength(1);
    expect(kernel.opened).toBe(3);
    expect(kernel.sent).toHaveLength(6);
  });

  it('compares them itself where the kernel compares endpoints wrongly, in one walk for all places', async () => {
    const shown = { flows: 3, ...tcp };
    const kernel = new ScriptedKernel([shown, {}, shown, {}, shown, shown]);
    const conntrack = conntrackOf(kernel);
    expect((await find(conntrack)).found).toHaveLength(3);
    expect(filtered(kernel)).toEqual([true, true, true, true, false]);
    expect((await find(conntrack)).found).toHaveLength(3);
    expect(filtered(kernel).slice(5)).toEqual([false]);
  });

  it('finds out again while the kernel has no connection to show it with', async () => {
    const kernel = new ScriptedKernel([{}, {}, ...Array.from({ length: 3 }, () => ({ flows: 1, ...tcp }))]);
    const conntrack = conntrackOf(kernel);
    expect((await find(conntrack)).found).toEqual([]);
    expect(filtered(kernel)).toEqual([true, false]);
    expect((await find(conntrack)).found).toHaveLength(1);
    expect(filtered(kernel).slice(2)).toEqual([true, true, true, true]);
  });

  it('leaves out associations of SCTP whose packets the kernel does not count', async () => {
    const sctp = { flows: 2, protocol: 132 } as const;
    const { found, examined } = await conntrackOf(new ScriptedKernel([sctp, sctp, sctp])).find(
      ...(['IPv4', 'SCTP', [{ port: 1 }], all, never] as const),
    );
    expect([found.length, examined]).toEqual([0, 2]);
  });
});

it('ends a sweep that is aborted, and waits for it when it is closed', async () => {
  const kernel = new ScriptedKernel([{ flows: 100 }]);
  const conntrack = conntrackOf(kernel);
  const stopping = new AbortController();
  let seen = 0;
  const sweep = conntrack.sweep(
    'IPv4',
    udp,
    () => {
      if (++seen === 3) stopping.abort(new Error('enough'));
      return false;
    },
    stopping.signal,
  );
  const outcome = expect(sweep).rejects.toThrow('enough');
  await conntrack.close();
  await outcome;
  expect(seen).toBe(3);
  expect(kernel.open.size).toBe(0);
  await expect(conntrack.sweep('IPv4', udp, all, never)).rejects.toThrow(ConntrackUnavailableError);
});
