import { constants } from 'node:os';
import type { CLibrary } from '../../../src/adapters/process/c-library.js';
import type { KernelProcess } from './kernel-process.js';
import { EBADF, EINVAL, ENOPROTOOPT, ENOTCONN, EOPNOTSUPP } from './netlink/numbers.js';
import { OpenSocket } from './open-socket.js';
import type { Sockets } from './sockets.js';

const SOL_SOCKET = 1;
const SOL_NETLINK = 270;
const SO_SNDBUF = 7;
const SO_RCVBUF = 8;
const SO_SNDBUFFORCE = 32;
const SO_RCVBUFFORCE = 33;
/** Of NETLINK_CAP_ACK and NETLINK_EXT_ACK, and of others that are taken and change nothing here. */
const NETLINK_OPTIONS = [5, 10, 11, 12];
/** Of `net.core.rmem_max` and `wmem_max`. */
const MOST_WITHOUT_FORCE = 212_992;
const F_SETFL = 4;
const F_SETOWN = 8;
const F_SETSIG = 10;
const O_ASYNC = 0o20000;

interface BackgroundOutcome {
  readonly result: number;
  readonly errno: number;
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
      if (length < 12) return -EINVAL;
      this.sockets.bind(socket, address.readUInt32LE(8));
      return 0;
    });

  readonly getsockopt: CLibrary['getsockopt'] = (fd, level, option, value, length) =>
    this.call('getsockopt', () => {
      const socket = this.sockets.find(this.process.pid, fd);
      if (!socket) return -EBADF;
      if (socket instanceof OpenSocket) return -ENOPROTOOPT;
      const { others } = this.sockets.options;
      return others ? -others.getsockopt(socket.domain, level, option, value, length) : -ENOPROTOOPT;
    });

  readonly setsockopt: CLibrary['setsockopt'] = (fd, level, option, value) =>
    this.onNetlink('setsockopt', fd, (socket) => {
      if (level === SOL_NETLINK) return NETLINK_OPTIONS.includes(option) ? 0 : -ENOPROTOOPT;
      if (level !== SOL_SOCKET) return -ENOPROTOOPT;
      const wanted = value.readInt32LE(0);
      const size =
        2 * (option === SO_SNDBUF || option === SO_RCVBUF ? Math.min(wanted, MOST_WITHOUT_FORCE) : wanted);
      if (option === SO_SNDBUF || option === SO_SNDBUFFORCE) socket.sendBuffer = size;
      else if (option === SO_RCVBUF || option === SO_RCVBUFFORCE) socket.receiveBuffer = size;
      else return -ENOPROTOOPT;
      return 0;
    });

  readonly attachFilter: CLibrary['attachFilter'] = (fd, program) =>
    this.onNetlink('attachFilter', fd, (socket) => {
      socket.filter = Buffer.from(program);
      return 0;
    });

  readonly fcntl: CLibrary['fcntl'] = (fd, command, value) =>
    this.onNetlink('fcntl', fd, (socket) => {
      switch (command) {
        case F_SETOWN:
          return 0;
        case F_SETSIG:
          this.signals.set(socket, signalName(value));
          return 0;
        case F_SETFL:
          socket.announcedBy = (value & O_ASYNC) === 0 ? undefined : (this.signals.get(socket) ?? 'SIGIO');
          return 0;
        default:
          return -EINVAL;
      }
    });

  readonly flock: CLibrary['flock'] = (fd, operation) =>
    this.call('flock', () => -(this.sockets.options.files?.flock(this.process.pid, fd, operation) ?? EBADF));

  readonly send: CLibrary['send'] = (fd, bytes, length) =>
    this.onNetlink('send', fd, (socket) => {
      this.sockets.bind(socket, socket.groups);
      return socket.send(Buffer.from(bytes.subarray(0, length)));
    });

  readonly sendInBackground: CLibrary['sendInBackground'] = (fd, bytes, length, flags) =>
    this.inBackground(() => this.send(fd, bytes, length, flags));

  readonly sendto: CLibrary['sendto'] = (fd, bytes, length, _flags, address, addressLength) =>
    this.call('sendto', () => {
      const socket = this.sockets.find(this.process.pid, fd);
      if (!socket) return -EBADF;
      const { others } = this.sockets.options;
      if (socket instanceof OpenSocket || !others) return -ENOTCONN;
      const path = address.toString('utf8', 2, addressLength);
      const errno = others.sendToPath(this.process.pid, path, Buffer.from(bytes.subarray(0, length)));
      return errno === 0 ? length : -errno;
    });

  readonly recv: CLibrary['recv'] = (fd, bytes, length, flags) =>
    this.onNetlink('recv', fd, (socket) => socket.receive(bytes.subarray(0, length), flags));

  readonly recvInBackground: CLibrary['recvInBackground'] = (fd, bytes, length, flags) =>
    this.inBackground(() => this.recv(fd, bytes, length, flags));

  readonly close: CLibrary['close'] = (fd) =>
    this.call('close', () => (this.sockets.close(this.process.pid, fd) ? 0 : -EBADF));

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
    const refused = this.hasEnded ? EBADF : (this.sockets.options.beforeCall?.(this.process.pid, name) ?? 0);
    const result = this.hasEnded ? -EBADF : refused === 0 ? run() : -refused;
    if (result >= 0) return result;
    this.error = -result;
    return -1;
  }

  private onNetlink(name: string, fd: number, run: (socket: OpenSocket) => number): number {
    return this.call(name, () => {
      const socket = this.sockets.find(this.process.pid, fd);
      if (!socket) return -EBADF;
      return socket instanceof OpenSocket ? run(socket) : -EOPNOTSUPP;
    });
  }

  private inBackground(call: () => number): Promise<BackgroundOutcome> {
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
