import type { Packet } from '../../../src/domain/trace/packet.js';
import type { TracedEnding } from '../../../src/domain/trace/traced-ending.js';
import { Inquiry } from './inquiry.js';
import type { PacketWalk } from './packet-walk.js';

interface Remembered {
  readonly endings: readonly TracedEnding[];
  readonly inquiry: Inquiry;
}

/**
 * Sends a packet again only where something has changed that it met. Most commits change little, and most packets that are sent
 * after them meet nothing of it.
 */
export class RememberedWalk implements PacketWalk {
  private readonly walks = new Map<string, Remembered>();

  /** @param send sends a packet through what the inquiry, and nothing else, tells it */
  constructor(private readonly send: (packet: Packet, inquiry: Inquiry) => readonly TracedEnding[]) {}

  /** The same object where nothing has changed. */
  walk(packet: Packet): readonly TracedEnding[] {
    const { family, inputInterface, source, destination, protocol, destinationPort } = packet;
    const key = `${family} ${inputInterface} ${source} ${destination} ${protocol} ${destinationPort}`;
    const known = this.walks.get(key);
    if (known?.inquiry.isUpToDate()) return known.endings;
    const inquiry = new Inquiry();
    const endings = this.send(packet, inquiry);
    this.walks.set(key, { endings, inquiry });
    return endings;
  }
}
