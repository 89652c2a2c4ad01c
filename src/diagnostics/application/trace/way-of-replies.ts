import type { Packet, Trace } from '../../domain/trace/trace.js';

/** How replies of the endpoints come back, for people. */
export function wayOfReplies({ outcome, sourceRewritten }: Trace, packet: Packet): readonly string[] {
  if (outcome !== 'forward') return [];
  if (packet.inputInterface === undefined)
    return ['replies come back to this node, which gives them the address that was called'];
  switch (sourceRewritten) {
    case true:
      return [
        'the endpoint sees an address of this node, so its replies come back here, and are sent on to the client',
      ];
    case false:
      return [
        `the endpoint sees ${packet.source}; its replies must pass this node, which gives them the address that was called`,
      ];
    case 'mixed':
      return [
        `some endpoints see an address of this node and others ${packet.source}; replies must pass this node in both cases`,
      ];
  }
}
