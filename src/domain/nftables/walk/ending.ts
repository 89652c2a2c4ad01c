import type { TracedEnding } from '../../trace/traced-ending.js';

/** One possible end of a packet. There are several where rules pick at random. */
export interface Ending extends TracedEnding {
  /** What the packet carries at the end; a proxy should leave neither set. */
  readonly mark: number;
  readonly priority: number;
  /** What it left in dynamic sets: set and key. */
  readonly remembers: readonly { readonly set: string; readonly key: string }[];
}
