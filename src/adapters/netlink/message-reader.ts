import { AttributeReader } from './attribute-reader.js';
import { NetlinkProtocolError } from './errors.js';
import {
  align,
  HEADER_LENGTH,
  NLM_F_ACK_TLVS,
  NLM_F_CAPPED,
  NLM_F_DUMP_INTR,
  NLMSG_DONE,
  NLMSG_ERROR,
  NLMSGERR_ATTR_MSG,
  NLMSGERR_ATTR_OFFS,
} from './protocol.js';

/** One message in a received datagram. The buffer belongs to the socket and is overwritten by the next datagram. */
export interface NetlinkMessage {
  readonly type: number;
  readonly flags: number;
  readonly sequence: number;
  readonly bytes: Buffer;
  /** The payload's position in the buffer. */
  readonly start: number;
  readonly end: number;
}

/** The kernel's reply to a message. */
export interface KernelReply {
  /** Of the message. */
  readonly sequence: number;
  /** 0 for an acknowledgement. */
  readonly errno: number;
  /** The kernel's explanation, if it gives one. */
  readonly explanation?: string;
  /** The offending attribute, in bytes from the start of the message. */
  readonly offset?: number;
  /** At the end of a dump: the dumped objects changed meanwhile. */
  readonly interrupted?: boolean;
}

/** The messages of a datagram. */
export function* readMessages(bytes: Buffer, length: number): Generator<NetlinkMessage> {
  for (let at = 0; at + HEADER_LENGTH <= length;) {
    const size = bytes.readUInt32LE(at);
    if (size < HEADER_LENGTH || at + size > length) {
      throw new NetlinkProtocolError(`a message of ${size} bytes where ${length - at} are left`);
    }
    yield {
      type: bytes.readUInt16LE(at + 4),
      flags: bytes.readUInt16LE(at + 6),
      sequence: bytes.readUInt32LE(at + 8),
      bytes,
      start: at + HEADER_LENGTH,
      end: at + size,
    };
    at += align(size);
  }
}

/** Reads an error message, or the end of a dump. Undefined for other messages. */
export function readReply({
  type,
  flags,
  sequence,
  bytes,
  start,
  end,
}: NetlinkMessage): KernelReply | undefined {
  if (type === NLMSG_DONE) {
    const errno = end - start >= 4 ? Math.max(0, -bytes.readInt32LE(start)) : 0;
    return { sequence, errno, ...((flags & NLM_F_DUMP_INTR) !== 0 && { interrupted: true }) };
  }
  if (type !== NLMSG_ERROR) return undefined;
  if (end - start < 4 + HEADER_LENGTH) throw new NetlinkProtocolError('an error message cut short');
  const errno = Math.abs(bytes.readInt32LE(start));
  if ((flags & NLM_F_ACK_TLVS) === 0) return { sequence, errno };
  const echoed = (flags & NLM_F_CAPPED) === 0 && errno !== 0 ? bytes.readUInt32LE(start + 4) : HEADER_LENGTH;
  const attributes = new AttributeReader(bytes, start + 4 + align(echoed), end);
  let explanation: string | undefined;
  let offset: number | undefined;
  while (attributes.next()) {
    if (attributes.type === NLMSGERR_ATTR_MSG) explanation = attributes.text();
    else if (attributes.type === NLMSGERR_ATTR_OFFS) offset = bytes.readUInt32LE(attributes.start);
  }
  return {
    sequence,
    errno,
    ...(explanation !== undefined && { explanation }),
    ...(offset !== undefined && { offset }),
  };
}
