import { MessageBuilder } from '../../netlink/message-builder.js';
import type { KernelSocket } from '../../netlink/requests.js';
import { SUBSYSTEM } from '../numbers.js';

/** Whom an answer is for, and from which state of the rules it is. */
export interface Addressee {
  readonly port: number;
  readonly sequence: number;
}

const builder = new MessageBuilder();

/**
 * One message of nf_tables.
 * @param kind the lower byte of its type
 * @param generation the number of the transaction before it, of which the message has the lower half
 */
export function message(
  { port, sequence }: Addressee,
  kind: number,
  flags: number,
  family: number,
  generation: number,
  put: (builder: MessageBuilder) => void,
): Buffer {
  builder.begin((SUBSYSTEM << 8) | kind, flags, sequence, port);
  builder.raw(Uint8Array.of(family, 0, (generation >>> 8) & 0xff, generation & 0xff));
  put(builder);
  return builder.end().take();
}

export function addresseeOf(socket: KernelSocket, { sequence }: { readonly sequence: number }): Addressee {
  return { port: socket.port, sequence };
}
