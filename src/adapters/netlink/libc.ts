import { endianness } from 'node:os';
import { errorMessage } from '../../application/error-message.js';
import { loadCLibrary } from '../process/c-library.js';
import { NetlinkUnavailableError } from './errors.js';

/** The calls of the C library that a netlink socket needs. Each returns -1 on failure; `errno` then has the reason. */
export interface Libc {
  socket(domain: number, type: number, protocol: number): number;
  bind(fd: number, address: Buffer, length: number): number;
  setsockopt(fd: number, level: number, option: number, value: Buffer, length: number): number;
  /** `setsockopt` with SO_ATTACH_FILTER: a program of classic BPF for what the socket receives. */
  attachFilter(fd: number, program: Buffer): number;
  fcntl(fd: number, command: number, value: number): number;
  send(fd: number, bytes: Buffer, length: number, flags: number): number;
  /** `send` on another thread; the buffer must not change meanwhile. */
  sendInBackground(
    fd: number,
    bytes: Buffer,
    length: number,
    flags: number,
  ): Promise<{ sent: number; errno: number }>;
  recv(fd: number, bytes: Buffer, length: number, flags: number): number;
  /** `recv` on another thread; meanwhile the buffer must not be touched and the descriptor must not be closed. */
  recvInBackground(
    fd: number,
    bytes: Buffer,
    length: number,
    flags: number,
  ): Promise<{ received: number; errno: number }>;
  close(fd: number): number;
  /** Of the last failed call on this thread. */
  errno(): number;
}

const SOL_SOCKET = 1;
const SO_ATTACH_FILTER = 26;
/** Bytes of struct sock_fprog, and of an instruction. */
const PROGRAM_HEADER = 16;
const INSTRUCTION = 8;

let bound: Libc | undefined;

/** Binds the C library of this process on first use. Throws NetlinkUnavailableError. */
export function loadLibc(): Libc {
  return (bound ??= bind());
}

function bind(): Libc {
  if (process.platform !== 'linux')
    throw new NetlinkUnavailableError(`this is ${process.platform}, not Linux`);
  if (endianness() !== 'LE') throw new NetlinkUnavailableError('only little-endian machines are supported');
  try {
    const { func, inBackground, addressOf, errno } = loadCLibrary();
    const send = func('long send(int fd, const void *bytes, size_t length, int flags)');
    const fcntl = func('int fcntl(int fd, int command, ...)');
    const recv = func('long recv(int fd, void *bytes, size_t length, int flags)');
    const setsockopt = func(
      'int setsockopt(int fd, int level, int option, const void *value, unsigned int length)',
    );
    return {
      socket: func('int socket(int domain, int type, int protocol)'),
      bind: func('int bind(int fd, const void *address, unsigned int length)'),
      setsockopt,
      attachFilter(fd, program) {
        const header = Buffer.alloc(PROGRAM_HEADER);
        header.writeUInt16LE(program.length / INSTRUCTION, 0);
        header.writeBigUInt64LE(addressOf(program), PROGRAM_HEADER / 2);
        return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, header, header.length);
      },
      fcntl: (fd, command, value) => fcntl(fd, command, 'int', value),
      send,
      async sendInBackground(...values) {
        const { result, errno } = await inBackground(send, ...values);
        return { sent: result, errno };
      },
      recv,
      async recvInBackground(...values) {
        const { result, errno } = await inBackground(recv, ...values);
        return { received: result, errno };
      },
      close: func('int close(int fd)'),
      errno,
    };
  } catch (error) {
    throw new NetlinkUnavailableError(errorMessage(error), { cause: error });
  }
}
