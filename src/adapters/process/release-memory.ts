import { createRequire } from 'node:module';
import { collectGarbage } from './collect-garbage.js';

interface Koffi {
  load(library: null): { func(prototype: string): (keep: number) => number };
}

/**
 * Gives back to the system what is free now, after a work that is done once, such as a start. Everything else waits
 * meanwhile, some 100 milliseconds where 50 MB are alive. Where the C library cannot be told, or is not glibc, only the heap
 * is given back.
 */
export async function releaseMemory(): Promise<void> {
  await collectGarbage();
  try {
    const koffi = createRequire(import.meta.url)('koffi') as Koffi;
    const trim = koffi.load(null).func('int malloc_trim(size_t keep)');
    trim(0);
  } catch {
    // Nothing depends on it.
  }
}
