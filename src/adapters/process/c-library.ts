import { createRequire } from 'node:module';
import { errorMessage } from '../../application/error-message.js';

/** A function of the C library. */
export interface CFunction {
  (...values: unknown[]): number;
  /** What CLibrary.inBackground is made of. */
  async(...values: [...unknown[], (error: unknown, result: number) => void]): void;
}

/** The C library of this process. */
export interface CLibrary {
  /** The function that a prototype in C declares. Throws when there is none. */
  func(prototype: string): CFunction;
  /** Calls a function on a thread of its own. Buffers that it is given must not be touched meanwhile. */
  inBackground(
    call: CFunction,
    ...values: readonly unknown[]
  ): Promise<{ readonly result: number; readonly errno: number }>;
  /** Where the bytes of a buffer are in memory, for pointers inside of structures. Valid while the buffer is held. */
  addressOf(buffer: Buffer): bigint;
  /** Of the last failed call on this thread. */
  errno(): number;
}

/** Where koffi has a binary that this program is packed and tested with, each for glibc and for musl. */
const PLATFORMS = ['linux-x64', 'linux-arm64'];

/** The C library cannot be called. */
class CLibraryError extends Error {
  constructor(cause: unknown) {
    const [reason] = errorMessage(cause).split('\n');
    const here = `${process.platform}-${process.arch}`;
    const problem = PLATFORMS.includes(here)
      ? 'does not load'
      : `has no binary for ${here}, only for ${PLATFORMS.join(' and ')}`;
    super(`the package koffi, which calls the C library, ${problem}: ${reason}`, { cause });
    this.name = 'CLibraryError';
  }
}

interface Koffi {
  load(library: null): Pick<CLibrary, 'func'>;
  address(buffer: Buffer): bigint;
  errno(): number;
}

let loaded: CLibrary | undefined;

/** Loads koffi on first use. Throws CLibraryError. */
export function loadCLibrary(): CLibrary {
  return (loaded ??= load());
}

function load(): CLibrary {
  try {
    const koffi = createRequire(import.meta.url)('koffi') as Koffi;
    const library = koffi.load(null);
    return {
      func: (prototype) => library.func(prototype),
      inBackground: (call, ...values) =>
        new Promise((resolve, reject) => {
          call.async(...values, (error, result) => {
            if (error) reject(error as Error);
            else resolve({ result, errno: koffi.errno() });
          });
        }),
      addressOf: (buffer) => koffi.address(buffer),
      errno: () => koffi.errno(),
    };
  } catch (error) {
    throw new CLibraryError(error);
  }
}
