import { createRequire } from 'node:module';

/** The calls of the C library that this adapter needs and Node does not have. Each returns -1 on failure. */
export interface SystemCalls {
  flock(fd: number, operation: number): number;
  socket(domain: number, type: number, protocol: number): number;
  getsockopt(fd: number, level: number, option: number, value: Buffer, length: Buffer): number;
  close(fd: number): number;
  /** Of the last failed call on this thread. */
  errno(): number;
}

type Foreign = (...values: unknown[]) => number;
interface Koffi {
  load(library: string | null): { func(prototype: string): Foreign };
  errno(): number;
}

let loaded: SystemCalls | undefined | 'unavailable';

/** Binds the C library of this process through koffi, on first use; undefined where that is not to be had. */
export function loadSystemCalls(): SystemCalls | undefined {
  loaded ??= bind() ?? 'unavailable';
  return loaded === 'unavailable' ? undefined : loaded;
}

function bind(): SystemCalls | undefined {
  try {
    const koffi = createRequire(import.meta.url)('koffi') as Koffi;
    const library = koffi.load(null);
    return {
      flock: library.func('int flock(int fd, int operation)'),
      socket: library.func('int socket(int domain, int type, int protocol)'),
      getsockopt: library.func(
        'int getsockopt(int fd, int level, int option, _Inout_ void *value, _Inout_ void *length)',
      ),
      close: library.func('int close(int fd)'),
      errno: () => koffi.errno(),
    };
  } catch {
    return undefined;
  }
}
