/** In place of `src/adapters/process/c-library.ts`: calls of the simulated kernel, by the process that acts now. */
import type { CLibrary } from '../../../src/adapters/process/c-library.js';
import { world } from '../world/current.js';

export function loadCLibrary(): CLibrary {
  return world.proxy.library;
}

export function cLibraryIfAny(): CLibrary | undefined {
  return world.proxy.library;
}
