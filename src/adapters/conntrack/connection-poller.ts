/** Single connections in the kernel: polls and deletions. */

import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { FoundConnection } from '../../application/ports/node/conntrack.js';
import type { ConnectionActivity } from '../../domain/conntrack/flow.js';
import type { Protocol } from '../../domain/model/service-port-name.js';
import type { IpFamily } from '../../domain/net/ip-family.js';
import { ENOENT, EPERM, NetlinkPermissionError, NetlinkRequestError } from '../netlink/errors.js';
import { readReply, type NetlinkMessage } from '../netlink/message-reader.js';
import { MessageWriter } from '../netlink/message-writer.js';
import type { NetlinkSocket } from '../netlink/netlink-socket.js';
import { familyNumber, NLM_F_REQUEST, NLMSG_ERROR } from '../netlink/protocol.js';
import { CT_GET, CT_NEW, CTA, PROTOINFO, PROTOINFO_TCP, TCP_MAXACK_SET, CT_DELETE } from './ctnetlink.js';
import { FlowReader } from './flow-reader.js';

/** Bytes of a packet of SCTP that only acknowledges: the IP header, the common header and a SACK. A slow reader may send one at any time. */
const ACKNOWLEDGEMENT = { IPv4: 48, IPv6: 68 } as const;

/** Polls without an answer in which they count. After more, they are heartbeats that happen to have this size. */
const MOST_ACKNOWLEDGEMENTS = 2;

/** Connections in one system call: a few milliseconds' work, and far fewer answers than the receive buffer holds. */
const AT_ONCE = 64;

/** A connection that was found, with the data for another query. */
export class FoundInKernel implements FoundConnection {
  readonly destination: string;
  readonly destinationPort: number;
  readonly replySource: string;
  readonly id: number;
  readonly protocol: Protocol;
  /** Attributes of a request. */
  readonly identity: Buffer;
  /** Of SCTP, as of the last poll: packets of each direction, bytes of the client, and whether it waits for an answer. */
  private sent = 0;
  private bytesSent = 0;
  private answered = 0;
  private isUnacknowledged = false;
  /** Looks since the last answer that saw nothing but acknowledgements. */
  private acknowledgements = 0;

  constructor(flow: FlowReader) {
    ({
      destination: this.destination,
      destinationPort: this.destinationPort,
      replySource: this.replySource,
      id: this.id,
      protocol: this.protocol,
    } = flow);
    this.count(flow);
    const writer = new MessageWriter(128);
    flow.writeIdentity(writer);
    this.identity = Buffer.from(writer.bytes.subarray(0, writer.length));
  }

  /** Derived from packet counts, where the kernel has no flags. */
  count({ packetsSent = 0, packetsAnswered = 0, bytesSent = 0, family }: FlowReader): ConnectionActivity {
    const packets = packetsSent - this.sent;
    const sent = packets > 0;
    const answered = packetsAnswered > this.answered;
    const acknowledges = bytesSent - this.bytesSent === packets * ACKNOWLEDGEMENT[family];
    if (answered) this.acknowledgements = 0;
    else if (sent && acknowledges) this.acknowledgements++;
    const asks = sent && (!acknowledges || this.acknowledgements > MOST_ACKNOWLEDGEMENTS);
    this.isUnacknowledged = !answered && (asks || this.isUnacknowledged);
    this.sent = packetsSent;
    this.bytesSent = bytesSent;
    this.answered = packetsAnswered;
    return { sent, answered, unacknowledged: this.isUnacknowledged };
  }
}

type Judge = (connection: FoundConnection, activity: ConnectionActivity | undefined) => boolean;

/**
 * Polls connections, many per system call, and marks each, so that the next poll shows what happened in between: a mark is
 * a flag of each direction that is cleared, and that the next packet sets (`TCP_MAXACK_SET`). A flag is only cleared if it was
 * set when read, so a packet that passes at that moment is missed only right after another one of its direction. SCTP has no
 * flags: the kernel's counters are compared.
 */
export class ConnectionPoller {
  problem: Error | undefined;
  private readonly reader = new FlowReader();
  private readonly requests = new MessageWriter(AT_ONCE * 128);
  private readonly marks = new MessageWriter(AT_ONCE * 128);

  constructor(
    private readonly socket: NetlinkSocket,
    private readonly deletion: FlowDeletion,
    private readonly family: IpFamily,
    private readonly isDead: Judge,
  ) {}

  async poll(connections: readonly FoundInKernel[], signal: AbortSignal): Promise<void> {
    for (let at = 0; at < connections.length; at += AT_ONCE) {
      if (at > 0) await yieldToEventLoop();
      signal.throwIfAborted();
      await this.pollSome(connections.slice(at, at + AT_ONCE));
    }
  }

  private async pollSome(connections: readonly FoundInKernel[]): Promise<void> {
    const { requests, marks, socket, deletion } = this;
    requests.length = marks.length = 0;
    connections.forEach(({ identity }, index) => {
      const start = requests.beginMessage(CT_GET, NLM_F_REQUEST, index);
      requests.putWord(familyNumber(this.family));
      requests.reserve(identity.length);
      identity.copy(requests.bytes, requests.length);
      requests.length += identity.length;
      requests.endMessage(start);
    });
    await socket.send(requests.bytes, requests.length);
    const isLost = socket.collectMessages((message) => {
      const connection = connections[message.sequence];
      if (connection) this.read(message, connection);
    });
    if (isLost) this.problem ??= new Error('the kernel answered more than its receive buffer can hold');
    if (marks.length > 0) await socket.send(marks.bytes, marks.length);
    for (const { errno } of socket.collectReplies().replies) this.refused(errno, 'marking');
    await deletion.flush();
  }

  private read(message: NetlinkMessage, connection: FoundInKernel): void {
    const { reader } = this;
    if (message.type === NLMSG_ERROR) {
      const errno = readReply(message)?.errno ?? 0;
      if (errno === ENOENT) this.isDead(connection, undefined);
      else this.refused(errno, 'reading');
      return;
    }
    const { protocol } = connection;
    if (!reader.read(message, 0, protocol)) return;
    if (reader.id !== connection.id || reader.closed || reader.offloaded) this.isDead(connection, undefined);
    else if (this.isDead(connection, protocol === 'SCTP' ? connection.count(reader) : reader))
      this.deletion.add(reader);
    else if (protocol === 'TCP') this.mark();
  }

  private mark(): void {
    const { marks, reader } = this;
    const { sent, answered } = reader;
    if (!sent && !answered) return;
    const start = marks.beginMessage(CT_NEW, NLM_F_REQUEST, 0);
    marks.putWord(familyNumber(this.family));
    reader.writeIdentity(marks);
    const info = marks.beginNest(CTA.PROTOINFO);
    const tcp = marks.beginNest(PROTOINFO.TCP);
    // The value, then a mask of what changes.
    if (sent) marks.putBytes(PROTOINFO_TCP.FLAGS_ORIGINAL, Uint8Array.of(0, TCP_MAXACK_SET));
    if (answered) marks.putBytes(PROTOINFO_TCP.FLAGS_REPLY, Uint8Array.of(0, TCP_MAXACK_SET));
    marks.endNest(tcp);
    marks.endNest(info);
    marks.endMessage(start);
  }

  private refused(errno: number, what: string): void {
    if (errno === 0 || errno === ENOENT) return;
    if (errno === EPERM) throw new NetlinkPermissionError(`${what} a tracked connection`);
    this.problem ??= new NetlinkRequestError(`${what} a tracked connection`, errno);
  }
}

/** Deletions in one system call: a millisecond's work, and far fewer than the errors that the receive buffer holds. */
const DELETIONS_AT_ONCE = 256;

/**
 * Removes flows, many per system call. The kernel replies only to deletions that it rejects. A flow that no longer exists is
 * fine. Of other rejections the first is kept in `problem`, and the rest continues.
 */
export class FlowDeletion {
  deleted = 0;
  problem: Error | undefined;
  private readonly writer = new MessageWriter(DELETIONS_AT_ONCE * 128);
  private count = 0;

  constructor(
    private readonly socket: NetlinkSocket,
    private readonly family: IpFamily,
  ) {}

  get full(): boolean {
    return this.count >= DELETIONS_AT_ONCE;
  }

  add(flow: FlowReader): void {
    const { writer } = this;
    const start = writer.beginMessage(CT_DELETE, NLM_F_REQUEST, ++this.count);
    writer.putWord(familyNumber(this.family));
    flow.writeIdentity(writer);
    writer.endMessage(start);
  }

  async flush(): Promise<void> {
    const { writer, count, socket } = this;
    if (count === 0) return;
    await socket.send(writer.bytes, writer.length);
    writer.length = 0;
    this.count = 0;
    const { replies, lost } = socket.collectReplies();
    const rejections = replies.filter(({ errno }) => errno !== 0);
    this.deleted += count - rejections.length;
    const rejection = rejections.find(({ errno }) => errno !== ENOENT);
    if (rejection?.errno === EPERM) throw new NetlinkPermissionError('removing a tracked connection');
    if (rejection)
      this.problem ??= new NetlinkRequestError(
        'removing a tracked connection',
        rejection.errno,
        rejection.explanation,
      );
    if (lost)
      this.problem ??= new Error('the kernel rejected more removals than its receive buffer can report');
  }
}
