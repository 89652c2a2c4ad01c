import { loadCLibrary } from './c-library.js';

/**
 * Ends the process whatever its threads are doing. `process.exit` waits for them: for a read from a file system that
 * hangs, or a name that is being looked up. Who listens to `exit` is told as always. Where the C library cannot be called,
 * it ends as `process.exit` does.
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
