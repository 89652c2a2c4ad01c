import type { Packet } from '../../../src/domain/trace/packet.js';
import type { TracedEnding } from '../../../src/domain/trace/traced-ending.js';

/** Sends packets through what the simulated kernel has at this moment. */
export interface PacketWalk {
  walk(packet: Packet): readonly TracedEnding[];
}
