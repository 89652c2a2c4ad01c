import type { Mode } from '../world/settings.js';

/** A mistake that somebody could make in the program. */
export interface PlantedFault {
  readonly name: string;
  /** Where it is made. */
  readonly file: string;
  /** What stands there; exactly once in the file. */
  readonly original: string;
  /** What stands there instead. */
  readonly fault: string;
  /** In which modes it shows. Missing: in all. */
  readonly modes?: readonly Mode[];
}
