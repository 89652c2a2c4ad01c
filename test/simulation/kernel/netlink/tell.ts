import type { KernelSocket } from '../netlink-protocol.js';
import { MessageBuilder } from './message-builder.js';
import type { Request } from './requests.js';

const builder = new MessageBuilder();

/** Answers a request with one message. */
export function tell(
  socket: KernelSocket,
  { sequence }: Request,
  type: number,
  put: (builder: MessageBuilder) => void,
  flags = 0,
): void {
  builder.begin(type, flags, sequence, socket.port);
  put(builder);
  socket.deliver(builder.end().take());
}
