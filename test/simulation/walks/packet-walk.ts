import type { Packet, PacketPath } from '../../../src/diagnostics/domain/trace/trace.js';

/** Sends packets through what the simulated kernel has at this moment. */
export interface PacketWalk {
  walk(packet: Packet): readonly PacketPath[];
  /** Whether it takes packets at the hook input only, as IPVS does: what other rules reject or drop does not come there. */
  readonly takesAtInput?: boolean;
}

/** What becomes of packets where there are no rules. */
export const LEFT_ALONE: readonly PacketPath[] = [
  { verdict: 'untouched', probability: 1, masquerade: false, sticky: false, steps: [] },
];
