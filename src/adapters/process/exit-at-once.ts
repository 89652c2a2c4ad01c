import { loadCLibrary } from './c-library.js';

/**
 * Ends the process whatever its threads are doing. `process.exit` waits for threads, such as a read from a file system that
 * hangs, or a name lookup. Listeners of `exit` are called as usual. Without access to the C library this is `process.exit`.
 */
export function exitAtOnce(code: number): never {
  const exit = libraryExit();
  if (exit) {
    process.emit('exit', code);
    exit(code);
  }
  process.exit(code);
}

function libraryExit(): ((code: number) => void) | undefined {
  try {
    return loadCLibrary().func('void _exit(int code)');
  } catch {
    return undefined;
  }
}
