import { constants } from 'node:os';
import type { CLibrary } from '../../../src/adapters/process/c-library.js';
import { E } from './netlink/numbers.js';
import type { OpenSocket, Sockets } from './sockets.js';

const [SOL_SOCKET, SOL_NETLINK] = [1, 270];
const SO = { SNDBUF: 7, RCVBUF: 8, SNDBUFFORCE: 32, RCVBUFFORCE: 33 } as const;
/** Of NETLINK_CAP_ACK and NETLINK_EXT_ACK, and of others that are taken and change nothing here. */
const NETLINK_OPTIONS = [5, 10, 11, 12];
/** Of `net.core.rmem_max` and `wmem_max`. */
const MOST_WITHOUT_FORCE = 212_992;
const F = { SETFL: 4, SETOWN: 8, SETSIG: 10 } as const;
const O_ASYNC = 0o20000;

/** A process of the simulated machine, as its kernel sees it. */
export interface KernelProcess {
  readonly pid: number;
  isAlive(): boolean;
  /** Runs something a little later, unless the process has ended by then. */
  soon(run: () => void): void;
  /** Sends it a signal, by its name. */
  raise(signal: string): void;
  /** It ends by itself. */
  exit(code: number): void;
}

/** What calls do that have nothing to do with netlink. Each returns an errno, 0 for success. */
export interface LibraryOptions {
  /** Asked before each call: it may end the process, which then does not make the call, or make the call fail. */
  readonly beforeCall?: (pid: number, call: string) => number;
  /** EAGAIN where another holds the lock, EBADF for a descriptor that is not open. */
  readonly flock?: (pid: number, descriptor: number, operation: number) => number;
  /** Of a raw IP socket: of iptables-legacy, what the kernel tells of its tables. */
  readonly getsockopt?: (domain: number, level: number, option: number, value: Buffer) => number;
}

/** The calls of one process. They are values, so that a caller may take them out. */
export class ProcessLibrary implements CLibrary {
  private error = 0;
  private readonly signals = new Map<OpenSocket, string>();

  constructor(
    private readonly process: KernelProcess,
    private readonly sockets: Sockets,
  ) {}

  readonly socket: CLibrary['socket'] = (domain, _type, protocol) =>
    this.call('socket', () => this.sockets.create(this.process, domain, protocol));

  readonly bind: CLibrary['bind'] = (fd, address, length) =>
    this.onNetlink('bind', fd, (socket) => {
      if (length < 12) return -E.EINVAL;
      this.sockets.bind(socket, address.readUInt32LE(8));
      return 0;
    });

  readonly getsockopt: CLibrary['getsockopt'] = (fd, level, option, value) =>
    this.call('getsockopt', () => {
      const socket = this.sockets.find(this.process.pid, fd);
      if (!socket) return -E.EBADF;
      const { getsockopt } = this.sockets.options;
      return 'domain' in socket && getsockopt
        ? -getsockopt(socket.domain, level, option, value)
        : -E.ENOPROTOOPT;
    });

  readonly setsockopt: CLibrary['setsockopt'] = (fd, level, option, value) =>
    this.onNetlink('setsockopt', fd, (socket) => {
      if (level === SOL_NETLINK && NETLINK_OPTIONS.includes(option)) return 0;
      if (level !== SOL_SOCKET) return -E.ENOPROTOOPT;
      const wanted = value.readInt32LE(0);
      const most = option === SO.SNDBUF || option === SO.RCVBUF ? MOST_WITHOUT_FORCE : Infinity;
      const size = 2 * Math.min(wanted, most);
      if (option === SO.SNDBUF || option === SO.SNDBUFFORCE) socket.sendBuffer = size;
      else if (option === SO.RCVBUF || option === SO.RCVBUFFORCE) socket.receiveBuffer = size;
      else return -E.ENOPROTOOPT;
      return 0;
    });

  readonly attachFilter: CLibrary['attachFilter'] = (fd, program) =>
    this.onNetlink('attachFilter', fd, (socket) => {
      socket.filter = Buffer.from(program);
      return 0;
    });

  readonly fcntl: CLibrary['fcntl'] = (fd, command, value) =>
    this.onNetlink('fcntl', fd, (socket) => {
      if (command === F.SETSIG) this.signals.set(socket, signalName(value));
      else if (command === F.SETFL)
        socket.announcedBy = (value & O_ASYNC) === 0 ? undefined : (this.signals.get(socket) ?? 'SIGIO');
      else if (command !== F.SETOWN) return -E.EINVAL;
      return 0;
    });

  readonly flock: CLibrary['flock'] = (fd, operation) =>
    this.call('flock', () => -(this.sockets.options.flock?.(this.process.pid, fd, operation) ?? E.EBADF));

  readonly send: CLibrary['send'] = (fd, bytes, length) =>
    this.onNetlink('send', fd, (socket) => {
      this.sockets.bind(socket, socket.groups);
      return socket.send(Buffer.from(bytes.subarray(0, length)));
    });

  readonly sendInBackground: CLibrary['sendInBackground'] = (fd, bytes, length, flags) =>
    this.inBackground(() => this.send(fd, bytes, length, flags));

  /** No program of this machine listens at a path. */
  readonly sendto: CLibrary['sendto'] = (fd) =>
    this.call('sendto', () => (this.sockets.find(this.process.pid, fd) ? -E.ENOENT : -E.EBADF));

  readonly recv: CLibrary['recv'] = (fd, bytes, length, flags) =>
    this.onNetlink('recv', fd, (socket) => socket.receive(bytes.subarray(0, length), flags));

  readonly recvInBackground: CLibrary['recvInBackground'] = (fd, bytes, length, flags) =>
    this.inBackground(() => this.recv(fd, bytes, length, flags));

  readonly close: CLibrary['close'] = (fd) =>
    this.call('close', () => (this.sockets.close(this.process.pid, fd) ? 0 : -E.EBADF));

  readonly setrlimit: CLibrary['setrlimit'] = () => this.call('setrlimit', () => 0);

  readonly exit: CLibrary['exit'] = (code) => {
    this.call('exit', () => {
      this.process.exit(code);
      return 0;
    });
  };

  readonly errno = (): number => this.error;

  /** @param run returns an errno as a negative number where it fails */
  private call(name: string, run: () => number): number {
    const refused = this.hasEnded
      ? E.EBADF
      : (this.sockets.options.beforeCall?.(this.process.pid, name) ?? 0);
    const result = this.hasEnded ? -E.EBADF : refused === 0 ? run() : -refused;
    if (result >= 0) return result;
    this.error = -result;
    return -1;
  }

  private onNetlink(name: string, fd: number, run: (socket: OpenSocket) => number): number {
    return this.call(name, () => {
      const socket = this.sockets.find(this.process.pid, fd);
      if (!socket) return -E.EBADF;
      return 'domain' in socket ? -E.EOPNOTSUPP : run(socket);
    });
  }

  private inBackground(call: () => number): Promise<{ readonly result: number; readonly errno: number }> {
    return new Promise((resolve) => {
      if (this.hasEnded) return;
      this.process.soon(() => {
        const result = call();
        if (!this.hasEnded) resolve({ result, errno: result < 0 ? this.error : 0 });
      });
    });
  }

  private get hasEnded(): boolean {
    return !this.process.isAlive() || this.sockets.hasEnded(this.process.pid);
  }
}

function signalName(number: number): string {
  const found = Object.entries(constants.signals).find(([, value]) => value === number);
  return found?.[0] ?? 'SIGIO';
}
