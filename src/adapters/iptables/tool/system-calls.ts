import { loadCLibrary } from '../../process/c-library.js';

/** The calls of the C library that this adapter needs and Node does not have. Each returns -1 on failure. */
export interface SystemCalls {
  flock(fd: number, operation: number): number;
  socket(domain: number, type: number, protocol: number): number;
  getsockopt(fd: number, level: number, option: number, value: Buffer, length: Buffer): number;
  close(fd: number): number;
  /** Of the last failed call on this thread. */
  errno(): number;
}

let bound: SystemCalls | undefined;

/** Binds the C library of this process on first use; undefined where that is unavailable. */
export function loadSystemCalls(): SystemCalls | undefined {
  try {
    return (bound ??= bind());
  } catch {
    return undefined;
  }
}

function bind(): SystemCalls {
  const { func, errno } = loadCLibrary();
  return {
    flock: func('int flock(int fd, int operation)'),
    socket: func('int socket(int domain, int type, int protocol)'),
    getsockopt: func(
      'int getsockopt(int fd, int level, int option, _Inout_ void *value, _Inout_ void *length)',
    ),
    close: func('int close(int fd)'),
    errno,
  };
}
