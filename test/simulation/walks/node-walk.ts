import type { Packet } from '../../../src/domain/trace/packet.js';
import type { TracedEnding } from '../../../src/domain/trace/traced-ending.js';
import type { PacketWalk } from './packet-walk.js';

/** Through all rules of the node: what one kind leaves alone, the next decides. */
export class NodeWalk implements PacketWalk {
  constructor(private readonly kinds: readonly PacketWalk[]) {}

  walk(packet: Packet): readonly TracedEnding[] {
    let endings: readonly TracedEnding[] = [];
    for (const kind of this.kinds) {
      endings = kind.walk(packet);
      if (endings.some(({ verdict }) => verdict !== 'untouched')) return endings;
    }
    return endings;
  }
}
