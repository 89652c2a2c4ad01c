import { createRequire } from 'node:module';
import { errorMessage } from '../../application/error-message.js';
import { NamedError } from '../../domain/model/named-error.js';

/** The result of a call on another thread. */
interface Outcome {
  readonly result: number;
  readonly errno: number;
}

/** The calls of the C library of this process that Node does not have. Each returns -1 on failure; `errno` then has the reason. */
export interface CLibrary {
  socket(domain: number, type: number, protocol: number): number;
  bind(fd: number, address: Buffer, length: number): number;
  getsockopt(fd: number, level: number, option: number, value: Buffer, length: Buffer): number;
  setsockopt(fd: number, level: number, option: number, value: Buffer, length: number): number;
  /** `setsockopt` with SO_ATTACH_FILTER: a program of classic BPF for what the socket receives. */
  attachFilter(fd: number, program: Buffer): number;
  fcntl(fd: number, command: number, value: number): number;
  flock(fd: number, operation: number): number;
  send(fd: number, bytes: Buffer, length: number, flags: number): number;
  /** `send` on another thread; the buffer must not change meanwhile. */
  sendInBackground(fd: number, bytes: Buffer, length: number, flags: number): Promise<Outcome>;
  sendto(
    fd: number,
    bytes: Buffer,
    length: number,
    flags: number,
    address: Buffer,
    addressLength: number,
  ): number;
  recv(fd: number, bytes: Buffer, length: number, flags: number): number;
  /** `recv` on another thread; meanwhile the buffer must not be touched and the descriptor must not be closed. */
  recvInBackground(fd: number, bytes: Buffer, length: number, flags: number): Promise<Outcome>;
  close(fd: number): number;
  /** @param limits `struct rlimit`: the soft limit and the hard one, of eight bytes each */
  setrlimit(resource: number, limits: Buffer): number;
  /** `_exit`, which waits for no thread. */
  exit(code: number): void;
  /** `malloc_trim`: returns free memory of the allocator to the system. Only glibc has it. */
  trimMemory?(padding: number): number;
  /** Of the last failed call on this thread. */
  errno(): number;
}

/** Where koffi has a binary that this program is packed and tested with, each for glibc and for musl. */
const PLATFORMS = ['linux-x64', 'linux-arm64'];

/** The C library cannot be called. */
class CLibraryError extends NamedError {
  constructor(cause: unknown) {
    const [reason] = errorMessage(cause).split('\n');
    const here = `${process.platform}-${process.arch}`;
    const problem = PLATFORMS.includes(here)
      ? 'does not load'
      : `has no binary for ${here}, only for ${PLATFORMS.join(' and ')}`;
    super(`the package koffi, which calls the C library, ${problem}: ${reason}`, { cause });
  }
}

interface CFunction {
  (...values: unknown[]): number;
  async(...values: [...unknown[], (error: unknown, result: number) => void]): void;
}

interface Koffi {
  load(library: null): { func(prototype: string): CFunction };
  /** Where the bytes of a buffer are in memory. Valid while the buffer is held. */
  address(buffer: Buffer): bigint;
  errno(): number;
}

const SOL_SOCKET = 1;
const SO_ATTACH_FILTER = 26;
/** Bytes of struct sock_fprog, and of an instruction. */
const PROGRAM_HEADER = 16;
const INSTRUCTION = 8;

let bound: CLibrary | undefined;

/** Binds the calls on first use. Throws CLibraryError. */
export function loadCLibrary(): CLibrary {
  try {
    return (bound ??= bindCalls(createRequire(import.meta.url)('koffi') as Koffi));
  } catch (error) {
    throw new CLibraryError(error);
  }
}

/** Undefined where the C library cannot be called. */
export function cLibraryIfAny(): CLibrary | undefined {
  try {
    return loadCLibrary();
  } catch {
    return undefined;
  }
}

function bindCalls(koffi: Koffi): CLibrary {
  const library = koffi.load(null);
  const func = (prototype: string): CFunction => library.func(prototype);
  const inBackground =
    (call: CFunction) =>
    (...values: readonly unknown[]): Promise<Outcome> =>
      new Promise((resolve, reject) => {
        call.async(...values, (error, result) => {
          if (error) reject(error as Error);
          else resolve({ result, errno: koffi.errno() });
        });
      });
  const fcntl = func('int fcntl(int fd, int command, ...)');
  const send = func('long send(int fd, const void *bytes, size_t length, int flags)');
  const recv = func('long recv(int fd, void *bytes, size_t length, int flags)');
  const setsockopt = func(
    'int setsockopt(int fd, int level, int option, const void *value, unsigned int length)',
  );
  return {
    socket: func('int socket(int domain, int type, int protocol)'),
    bind: func('int bind(int fd, const void *address, unsigned int length)'),
    getsockopt: func(
      'int getsockopt(int fd, int level, int option, _Inout_ void *value, _Inout_ void *length)',
    ),
    setsockopt,
    attachFilter(fd, program) {
      const header = Buffer.alloc(PROGRAM_HEADER);
      header.writeUInt16LE(program.length / INSTRUCTION, 0);
      header.writeBigUInt64LE(koffi.address(program), PROGRAM_HEADER / 2);
      return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, header, header.length);
    },
    fcntl: (fd, command, value) => fcntl(fd, command, 'int', value),
    flock: func('int flock(int fd, int operation)'),
    send,
    sendInBackground: inBackground(send),
    sendto: func(
      'long sendto(int fd, const void *bytes, size_t length, int flags, const void *address, unsigned int size)',
    ),
    recv,
    recvInBackground: inBackground(recv),
    close: func('int close(int fd)'),
    setrlimit: func('int setrlimit(int resource, const void *limits)'),
    exit: func('void _exit(int code)'),
    ...trimming(func),
    errno: () => koffi.errno(),
  };
}

/** musl has no malloc_trim. */
function trimming(func: (prototype: string) => CFunction): Pick<CLibrary, 'trimMemory'> {
  try {
    return { trimMemory: func('int malloc_trim(size_t padding)') };
  } catch {
    return {};
  }
}
