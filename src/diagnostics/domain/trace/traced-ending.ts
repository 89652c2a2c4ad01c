import type { Step } from './trace.js';

/** One possible end of a packet, the first of its connection, and how it came there. Every mode's walk returns these. */
export interface TracedEnding {
  readonly verdict: 'sent' | 'untouched' | 'refused' | 'dropped';
  /** Where the packet was sent; only if `sent`. */
  readonly endpoint?: { readonly address: string; readonly port: number };
  /** Between 0 and 1; the sum over all endings of a packet is 1. */
  readonly probability: number;
  /** The service's own address, for packets of a node that has it (mode ipvs), which sends from there. Missing: the packet's source. */
  readonly source?: string;
  /** The packet leaves with an address of this node as its source. */
  readonly masquerade: boolean;
  /** The rules remember the client and send its next connection to the same endpoint. */
  readonly sticky: boolean;
  /** What the rules remember the client as, for `PacketEnvironment.remembered`; only where the walk is watched. */
  readonly memory?: ReadonlyMap<string, ReadonlySet<string>>;
  /** Whose rules it met; only of a walk that keeps no steps. */
  readonly servicePort?: string;
  readonly steps: readonly Step[];
}
