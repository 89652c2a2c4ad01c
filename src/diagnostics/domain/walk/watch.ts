import type { AddressRange } from '../compare/address-ranges.js';

/**
 * Sees what rules compare of a packet on its way. Whatever packet gets the same answers takes the same way, so that what was seen
 * tells for which other packets an outcome holds.
 */
export interface Watch {
  /** Whether the way of the packet is to be told. Of a walk without it only steps are kept whose effect is not known. */
  readonly wantsSteps: boolean;
  /** The source that the packet was sent with was compared with these addresses. */
  source(range: AddressRange): void;
  /** So was the name of the interface that it came in through; `+` at the end stands for anything. */
  inputInterface(pattern: string): void;
  /** Something was looked at that is not known, or that packets of a client may differ in. */
  unclear(what: string): void;
  /** Clients are remembered for this long. */
  affinity(seconds: number): void;
}
