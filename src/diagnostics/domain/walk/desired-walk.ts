import type { Packet, PacketEnvironment } from '../trace/packet.js';
import type { TracedEnding } from '../trace/traced-ending.js';

/** Follows packets through what should be there. */
export interface DesiredWalk {
  walk(packet: Packet, environment: PacketEnvironment): readonly TracedEnding[];
}
