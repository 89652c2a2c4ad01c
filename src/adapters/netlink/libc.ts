import { createRequire } from 'node:module';
import { endianness } from 'node:os';
import { NetlinkUnavailableError } from './errors.js';

/** The calls of the C library that a netlink socket needs. Each returns -1 on failure; `errno` then tells why. */
export interface Libc {
  socket(domain: number, type: number, protocol: number): number;
  bind(fd: number, address: Buffer, length: number): number;
  setsockopt(fd: number, level: number, option: number, value: Buffer, length: number): number;
  send(fd: number, bytes: Buffer, length: number, flags: number): number;
  /** `send` on a thread of its own; the buffer must not change meanwhile. */
  sendInBackground(
    fd: number,
    bytes: Buffer,
    length: number,
    flags: number,
  ): Promise<{ sent: number; errno: number }>;
  recv(fd: number, bytes: Buffer, length: number, flags: number): number;
  /** `recv` on a thread of its own; the buffer must not be touched meanwhile, nor the descriptor closed. */
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

type Foreign = ((...values: unknown[]) => number) & {
  async(...values: [...unknown[], (error: unknown, result: number) => void]): void;
};
interface Koffi {
  load(library: string | null): { func(prototype: string): Foreign };
  errno(): number;
}

let loaded: Libc | undefined;

/** Binds the C library of this process through koffi, on first use. Throws NetlinkUnavailableError. */
export function loadLibc(): Libc {
  loaded ??= bind();
  return loaded;
}

function bind(): Libc {
  if (process.platform !== 'linux')
    throw new NetlinkUnavailableError(`this is ${process.platform}, not Linux`);
  if (endianness() !== 'LE') throw new NetlinkUnavailableError('only little-endian machines are supported');
  try {
    const koffi = createRequire(import.meta.url)('koffi') as Koffi;
    const library = koffi.load(null);
    const socket = library.func('int socket(int domain, int type, int protocol)');
    const bindTo = library.func('int bind(int fd, const void *address, unsigned int length)');
    const setsockopt = library.func(
      'int setsockopt(int fd, int level, int option, const void *value, unsigned int length)',
    );
    const send = library.func('long send(int fd, const void *bytes, size_t length, int flags)');
    const recv = library.func('long recv(int fd, void *bytes, size_t length, int flags)');
    const close = library.func('int close(int fd)');
    return {
      socket,
      bind: bindTo,
      setsockopt,
      send,
      sendInBackground: (fd, bytes, length, flags) =>
        new Promise((resolve, reject) => {
          send.async(fd, bytes, length, flags, (error, sent) => {
            if (error) reject(error as Error);
            else resolve({ sent, errno: koffi.errno() });
          });
        }),
      recv,
      recvInBackground: (fd, bytes, length, flags) =>
        new Promise((resolve, reject) => {
          recv.async(fd, bytes, length, flags, (error, received) => {
            if (error) reject(error as Error);
            else resolve({ received, errno: koffi.errno() });
          });
        }),
      close,
      errno: () => koffi.errno(),
    };
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message.split('\n')[0] : String(cause);
    throw new NetlinkUnavailableError(
      `the package koffi, which calls the C library, does not load: ${reason}`,
      {
        cause,
      },
    );
  }
}
