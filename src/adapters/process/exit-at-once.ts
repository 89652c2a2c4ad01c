import { cLibraryIfAny } from './c-library.js';

/**
 * Ends the process whatever its threads are doing. `process.exit` waits for threads, such as a read from a file system that
 * hangs, or a name lookup. Listeners of `exit` are called as usual. Without access to the C library this is `process.exit`.
 */
export function exitAtOnce(code: number): never {
  const library = cLibraryIfAny();
  if (library) {
    process.emit('exit', code);
    library.exit(code);
  }
  process.exit(code);
}
