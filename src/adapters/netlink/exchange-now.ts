import { EPERM } from './errno.js';
import { NetlinkPermissionError } from './errors.js';
import type { KernelReply, NetlinkMessage } from './message-reader.js';
import { MessageWriter } from './message-writer.js';
import { writeRequest, type NetlinkRequest } from './netlink-request.js';
import type { NetlinkSocket } from './netlink-socket.js';
import type { NLM_F_DUMP } from './protocol.js';

/** Nothing else is requested over the socket meanwhile. */
const SEQUENCE = 1;

/**
 * Sends a request and reads the answer at once, on this thread. NetlinkChannel does the same for callers that can wait.
 * @param answer NLM_F_DUMP for all objects of a kind, 0 for one object
 * @throws NetlinkError if the kernel cannot be reached, or refuses this process
 */
export function exchangeNow(
  socket: NetlinkSocket,
  request: NetlinkRequest,
  answer: typeof NLM_F_DUMP | 0,
  onMessage: (message: NetlinkMessage) => void,
): KernelReply {
  const writer = new MessageWriter(256);
  writeRequest(writer, request, answer, SEQUENCE);
  const reply = socket.exchange(writer.bytes, writer.length, SEQUENCE, answer === 0, onMessage);
  if (reply.errno === EPERM) throw new NetlinkPermissionError(request.attempt);
  return reply;
}
