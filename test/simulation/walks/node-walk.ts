import type { Packet, PacketPath } from './packet-walk.js';
import type { PacketWalk } from './packet-walk.js';

/**
 * Through all rules of the node. Where a kind of rules sends packets to an endpoint, those of another kind that would drop them for
 * their former destination do not see it any more, unless it is sent at the hook input, which comes behind them (what the node itself
 * sends does not pass it); else what one kind leaves alone, the next decides.
 */
export class NodeWalk implements PacketWalk {
  constructor(private readonly kinds: readonly PacketWalk[]) {}

  walk(packet: Packet): readonly PacketPath[] {
    let decided: readonly PacketPath[] | undefined;
    let endings: readonly PacketPath[] = [];
    for (const kind of this.kinds) {
      endings = kind.walk(packet);
      if (endings.some(({ verdict }) => verdict === 'forward'))
        return kind.takesAtInput && packet.inputInterface !== undefined ? (decided ?? endings) : endings;
      if (endings.some(({ verdict }) => verdict !== 'untouched')) decided ??= endings;
    }
    return decided ?? endings;
  }
}
