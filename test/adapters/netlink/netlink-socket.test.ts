import { execa } from 'execa';
import {
  NetlinkPermissionError,
  NetlinkProtocolError,
  NetlinkSystemError,
} from '../../../src/adapters/netlink/errors.js';
import { NetlinkSocket } from '../../../src/adapters/netlink/netlink-socket.js';
import { errorMessage, FakeLibc, plainMessage } from '../../support/fake-libc.js';

const EINTR = 4;
const EPERM = 1;
const EAGAIN = 11;
const EMSGSIZE = 90;
const ENOBUFS = 105;
const DONE = 3;

function open(libc = new FakeLibc()) {
  return { libc, socket: NetlinkSocket.open(12, { libc, receiveBuffer: 500_000 }) };
}

describe('opening', () => {
  it('asks for detailed errors and room for replies', () => {
    expect(open().libc.options).toEqual([
      [270, 11, 1],
      [270, 10, 1],
      [1, 33, 500_000],
    ]);
  });

  it('takes what room the limits allow where it may not exceed them', () => {
    const libc = new FakeLibc();
    libc.refusedOptions = [33];
    open(libc);
    expect(libc.options.at(-1)).toEqual([1, 8, 500_000]);
  });

  it('says what failed, and leaves nothing open', () => {
    const without = new FakeLibc();
    without.socketError = 93;
    expect(() => open(without)).toThrow('socket on a netlink socket failed: EPROTONOSUPPORT');
    expect(without.closed).toEqual([]);
    const unbound = new FakeLibc();
    unbound.bindError = EPERM;
    expect(() => open(unbound)).toThrow(NetlinkSystemError);
    expect(unbound.closed).toEqual([5]);
  });
});

describe('announcing', () => {
  it('has the kernel send a signal to this process, until it is closed', () => {
    const { libc, socket } = open();
    let arrivals = 0;
    socket.announce(() => arrivals++);
    expect(libc.controls).toEqual([
      [8, process.pid],
      [10, 23],
      [4, 0o24000],
    ]);
    process.emit('SIGURG');
    expect(arrivals).toBe(1);
    socket.close();
    process.emit('SIGURG');
    expect(arrivals).toBe(1);
  });

  it('uses a signal at which no child process ends, unlike SIGIO', async () => {
    const outcome = async (signal: string): Promise<string> => {
      const script = `import { execa } from 'execa';
        // The child lives until its input ends, which is after everybody has seen the signal.
        process.on('${signal}', () => setImmediate(() => child.stdin.end()));
        const child = execa('cat', { reject: false });
        child.once('spawn', () => process.kill(process.pid, '${signal}'));
        console.log((await child).isTerminated ? 'ended' : 'lived on');`;
      return (await execa(process.execPath, ['--input-type=module', '--eval', script])).stdout;
    };
    expect(await Promise.all(['SIGURG', 'SIGIO'].map(outcome))).toEqual(['lived on', 'ended']);
  });

  it('says that it failed', () => {
    const { libc, socket } = open();
    libc.controlError = EPERM;
    expect(() => socket.announce(() => {})).toThrow('fcntl on a netlink socket failed: EPERM');
    socket.close();
    expect(process.listenerCount('SIGURG')).toBe(0);
  });
});

describe('sending', () => {
  it('is tried again when interrupted', async () => {
    const { libc, socket } = open();
    libc.sendErrors = [EINTR, EINTR];
    await socket.send(Buffer.from('request'), 3);
    expect(libc.sent.map(String)).toEqual(['req']);
  });

  it('makes room once for what is large, and does not keep others waiting meanwhile', async () => {
    const { libc, socket } = open();
    const large = Buffer.alloc(1_000_000);
    await socket.send(large, 1_000_000);
    await socket.send(large, 900_000);
    await socket.send(large, 40_000);
    expect(libc.options.filter(([, option]) => option === 32)).toEqual([[1, 32, 1_004_096]]);
    expect(libc.sentInBackground).toEqual([1_000_000, 900_000]);
    expect(libc.sent.map(({ length }) => length)).toEqual([1_000_000, 900_000, 40_000]);
  });

  it('fails with advice', async () => {
    const { libc, socket } = open();
    libc.sendErrors = [EMSGSIZE, EPERM, ENOBUFS];
    const send = () => socket.send(Buffer.alloc(400_000), 400_000);
    await expect(send()).rejects.toMatchObject({
      name: 'NetlinkSystemError',
      code: 'EMSGSIZE',
      message: expect.stringContaining('400000 bytes; CAP_NET_ADMIN is needed') as string,
    });
    await expect(send()).rejects.toThrow(NetlinkPermissionError);
    await expect(send()).rejects.toMatchObject({ code: 'ENOBUFS' });
  });
});

describe('replies', () => {
  it('are read until there are none, also when some were lost', () => {
    const { libc, socket } = open();
    libc.incoming = [
      EINTR,
      ENOBUFS,
      Buffer.concat([errorMessage(3, 17), errorMessage(4, 2)]),
      errorMessage(9, 0),
    ];
    expect(socket.collectReplies()).toEqual({
      lost: true,
      replies: [
        { sequence: 3, errno: 17 },
        { sequence: 4, errno: 2 },
        { sequence: 9, errno: 0 },
      ],
    });
    expect(socket.collectReplies()).toEqual({ lost: false, replies: [] });
  });

  it('that cannot be read are reported', () => {
    const { libc, socket } = open();
    libc.incoming = [9];
    expect(() => socket.collectReplies()).toThrow('recv on a netlink socket failed: EBADF');
    libc.incoming = [Buffer.alloc(40_000)];
    expect(() => socket.collectReplies()).toThrow(NetlinkProtocolError);
  });
});

describe('an answer', () => {
  it('ends with the dump, without leftovers of other requests', async () => {
    const { libc, socket } = open();
    libc.incoming = [
      Buffer.concat([plainMessage(DONE, 6), plainMessage(0xa03, 7)]),
      Buffer.concat([plainMessage(0xa03, 7), plainMessage(0xa03, 6), plainMessage(DONE, 7)]),
    ];
    let count = 0;
    expect(await socket.receiveAnswer(7, false, () => count++)).toEqual({ sequence: 7, errno: 0 });
    expect(count).toBe(2);
  });

  it('is one message where one was asked for, or an error', async () => {
    const { libc, socket } = open();
    libc.incoming = [plainMessage(0xa0f, 7), errorMessage(8, 2)];
    expect(await socket.receiveAnswer(7, true, () => undefined)).toEqual({ sequence: 7, errno: 0 });
    expect(await socket.receiveAnswer(8, true, () => undefined)).toEqual({ sequence: 8, errno: 2 });
  });

  it('that ends early or is incomplete is no answer', async () => {
    const { libc, socket } = open();
    libc.incoming = [plainMessage(0xa03, 7), EAGAIN, plainMessage(0xa03, 8), ENOBUFS];
    await expect(socket.receiveAnswer(7, false, () => undefined)).rejects.toThrow('the answer ended early');
    await expect(socket.receiveAnswer(8, false, () => undefined)).rejects.toMatchObject({ code: 'ENOBUFS' });
  });
});

describe('closing', () => {
  it('happens once', () => {
    const { libc, socket } = open();
    socket.close();
    socket.close();
    expect(libc.closed).toEqual([5]);
  });
});
