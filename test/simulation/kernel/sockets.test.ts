import { constants } from 'node:os';
import { E } from './netlink/numbers.js';
import type { KernelSocket } from './netlink/requests.js';
import { Sockets } from './sockets.js';

const [NETLINK, RAW, PROTOCOL] = [16, 3, 0];
const [SOL_SOCKET, SO_RCVBUF, SO_SNDBUFFORCE] = [1, 8, 32];
const [F_SETFL, F_SETSIG, O_ASYNC] = [4, 10, 0o20000];

/** Sends back what it gets, so many times. */
class Echo {
  times = 1;
  closed = 0;

  handle(socket: KernelSocket, bytes: Buffer): number {
    for (let count = 0; count < this.times; count++) socket.deliver(Buffer.from(bytes));
    return 0;
  }
}

function machine() {
  const echo = new Echo();
  const sends: KernelSocket[] = [];
  const handle = (socket: KernelSocket, bytes: Buffer): number => {
    sends.push(socket);
    return echo.handle(socket, bytes);
  };
  const calls: string[] = [];
  const faults = new Map<string, number>();
  const sockets = new Sockets({
    protocols: new Map([[PROTOCOL, { handle, closed: () => void echo.closed++ }]]),
    beforeCall(_, call) {
      calls.push(call);
      return faults.get(call) ?? 0;
    },
  });
  const soon: (() => void)[] = [];
  const signals: string[] = [];
  const process = (pid: number) =>
    sockets.libraryOf({
      pid,
      isAlive: () => true,
      soon: (run) => soon.push(run),
      raise: (signal) => signals.push(signal),
      exit: () => sockets.end(pid),
    });
  return { echo, sends, sockets, faults, calls, process, soon, signals };
}

function opened(libc: ReturnType<ReturnType<typeof machine>['process']>, groups = 0): number {
  const fd = libc.socket(NETLINK, RAW, PROTOCOL);
  const address = Buffer.alloc(12);
  address.writeUInt32LE(groups, 8);
  libc.bind(fd, address, 12);
  return fd;
}

const buffer = Buffer.alloc(64);
const MESSAGE = Buffer.from('message');

it('has an answer when `send` returns, and then no other', () => {
  const { process } = machine();
  const libc = process(42);
  const fd = opened(libc);
  expect(libc.send(fd, MESSAGE, MESSAGE.length, 0)).toBe(MESSAGE.length);
  expect(buffer.toString('utf8', 0, libc.recv(fd, buffer, buffer.length, 0))).toBe('message');
  expect(libc.recv(fd, buffer, buffer.length, 0)).toBe(-1);
  expect(libc.errno()).toBe(E.EAGAIN);
});

it('gives the first socket of a process its number, and others numbers that nobody has', () => {
  const { process, sends } = machine();
  const libraries = [process(42), process(42), process(43)];
  for (const libc of libraries) libc.send(opened(libc), MESSAGE, MESSAGE.length, 0);
  const ports = new Set(sends.map(({ port }) => port));
  expect(ports.size).toBe(3);
  expect(ports).toContain(42);
});

it('loses what does not fit, says so once, and takes nothing until all is read', () => {
  const { process, echo } = machine();
  const libc = process(42);
  const fd = opened(libc);
  const size = Buffer.alloc(4);
  size.writeInt32LE(4 * 1024);
  libc.setsockopt(fd, SOL_SOCKET, SO_RCVBUF, size, 4);
  echo.times = 50;
  libc.send(fd, MESSAGE, MESSAGE.length, 0);
  expect(libc.recv(fd, buffer, buffer.length, 0)).toBe(-1);
  expect(libc.errno()).toBe(E.ENOBUFS);
  echo.times = 1;
  libc.send(fd, Buffer.from('late'), 4, 0);
  const read: string[] = [];
  for (let length; (length = libc.recv(fd, buffer, buffer.length, 0)) >= 0;)
    read.push(buffer.toString('utf8', 0, length));
  expect(read.length).toBeGreaterThan(5);
  expect(read).not.toContain('late');
  libc.send(fd, Buffer.from('late'), 4, 0);
  expect(libc.recv(fd, buffer, buffer.length, 0)).toBe(4);
});

it('sends no more than the send buffer holds', () => {
  const { process } = machine();
  const libc = process(42);
  const fd = opened(libc);
  const much = Buffer.alloc(300_000);
  expect(libc.send(fd, much, much.length, 0)).toBe(-1);
  expect(libc.errno()).toBe(E.EMSGSIZE);
  const size = Buffer.alloc(4);
  size.writeInt32LE(300_000);
  libc.setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, size, 4);
  expect(libc.send(fd, much, much.length, 0)).toBe(much.length);
});

it('passes what a filter passes, to those that hear the group', () => {
  const { process, sockets } = machine();
  const libc = process(42);
  const [deaf, hearing] = [opened(libc), opened(libc, 1 << 2)];
  sockets.multicastOf(PROTOCOL)(3, MESSAGE);
  expect(libc.recv(deaf, buffer, buffer.length, 0)).toBe(-1);
  expect(libc.recv(hearing, buffer, buffer.length, 0)).toBe(MESSAGE.length);
  const RETURN_NOTHING = Buffer.from('0600000000000000', 'hex');
  libc.attachFilter(hearing, RETURN_NOTHING);
  sockets.multicastOf(PROTOCOL)(3, MESSAGE);
  expect(libc.recv(hearing, buffer, buffer.length, 0)).toBe(-1);
});

it('announces arrivals by a signal, one for several', () => {
  const { process, soon, signals, sockets } = machine();
  const libc = process(42);
  const fd = opened(libc, 1);
  libc.fcntl(fd, F_SETSIG, constants.signals.SIGURG);
  libc.fcntl(fd, F_SETFL, O_ASYNC);
  sockets.multicastOf(PROTOCOL)(1, MESSAGE);
  sockets.multicastOf(PROTOCOL)(1, MESSAGE);
  soon.splice(0).forEach((run) => run());
  expect(signals).toEqual(['SIGURG']);
  sockets.multicastOf(PROTOCOL)(1, MESSAGE);
  libc.close(fd);
  soon.splice(0).forEach((run) => run());
  expect(signals).toEqual(['SIGURG']);
});

it('lets no call of a process that has ended do anything, and closes its sockets', async () => {
  const { process, sockets, echo, soon, sends } = machine();
  const libc = process(42);
  const fd = opened(libc);
  const inBackground = libc.sendInBackground(fd, MESSAGE, MESSAGE.length, 0);
  libc.exit(0);
  soon.splice(0).forEach((run) => run());
  expect(sends).toEqual([]);
  expect([sockets.countOf(42), echo.closed]).toEqual([0, 1]);
  for (const call of [
    () => libc.send(fd, MESSAGE, 1, 0),
    () => libc.socket(NETLINK, RAW, PROTOCOL),
    () => libc.close(fd),
  ]) {
    expect(call()).toBe(-1);
    expect(libc.errno()).toBe(E.EBADF);
  }
  await expect(Promise.race([inBackground, Promise.resolve('never')])).resolves.toBe('never');
});

it('asks before each call, which may fail or be the last one', () => {
  const { process, faults, calls, sends } = machine();
  const libc = process(42);
  const fd = opened(libc);
  faults.set('send', E.EINTR);
  expect(libc.send(fd, MESSAGE, 1, 0)).toBe(-1);
  expect(libc.errno()).toBe(E.EINTR);
  expect(sends).toEqual([]);
  expect(calls).toEqual(['socket', 'bind', 'send']);
});
