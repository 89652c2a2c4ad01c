/** Walks through the connection tracking table; the kernel filters it. */

import type { FlowPlace } from '../../domain/conntrack/frontend-map.js';
import { PROTOCOL_NUMBERS, type Protocol } from '../../domain/model/service-port-name.js';
import type { IpFamily } from '../../domain/net/ip-family.js';
import type { KernelReply } from '../netlink/message-reader.js';
import { MessageWriter } from '../netlink/message-writer.js';
import { writeRequest } from '../netlink/netlink-channel.js';
import type { NetlinkSocket } from '../netlink/netlink-socket.js';
import { familyNumber, NLM_F_DUMP, NLM_F_DUMP_INTR, addressBytes } from '../netlink/protocol.js';
import {
  CT_GET,
  CTA,
  FILTER,
  FILTER_FLAG,
  STATUS_SEEN_REPLY,
  TUPLE,
  TUPLE_IP,
  TUPLE_PROTO,
} from './ctnetlink.js';
import { FlowReader } from './flow-reader.js';

/** One walk through the table; it may be restarted. */
export class TableWalk {
  examined = 0;
  private readonly flow = new FlowReader();
  private readonly request = new MessageWriter(512);
  private sequence = 0;

  /**
   * @param onFlow called with each flow of the protocol that matches the query's condition on answers
   * @param afterDatagram awaited now and then, and at the end
   */
  constructor(
    private readonly socket: NetlinkSocket,
    private readonly family: IpFamily,
    readonly query: DumpQuery,
    private readonly onFlow: (flow: FlowReader) => void,
    private readonly afterDatagram: (isLast: boolean) => Promise<void>,
    private readonly signal: AbortSignal,
  ) {}

  /**
   * Walks from the start.
   * @param isFiltered whether the kernel filters by the query or sends everything
   */
  async begin(isFiltered: boolean): Promise<KernelReply> {
    const { request, socket, query, signal } = this;
    signal.throwIfAborted();
    const sequence = ++this.sequence;
    request.length = 0;
    const put = (): void => {
      request.putWord(familyNumber(this.family));
      if (isFiltered) writeDumpFilter(request, query);
    };
    writeRequest(request, { type: CT_GET, put }, NLM_F_DUMP, sequence);
    let interrupted = false;
    await socket.send(request.bytes, request.length, true);
    try {
      const reply = await socket.receiveDump(
        sequence,
        (message) => {
          interrupted ||= (message.flags & NLM_F_DUMP_INTR) !== 0;
          const { flow } = this;
          if (!flow.read(message, 0, query.protocol)) return;
          if (query.replied !== undefined && query.replied !== flow.replied) return;
          this.examined++;
          this.onFlow(flow);
        },
        async () => {
          signal.throwIfAborted();
          await this.afterDatagram(false);
        },
      );
      return interrupted ? { ...reply, interrupted } : reply;
    } finally {
      await this.afterDatagram(true);
    }
  }
}

/**
 * The endpoint of the first flow that the kernel sends for the query; undefined if it sends none. Reads no
 * more than that takes; the socket is of no use afterwards.
 */
export async function firstEndpoint(
  socket: NetlinkSocket,
  family: IpFamily,
  query: DumpQuery,
  signal: AbortSignal,
): Promise<FlowPlace | undefined> {
  const enough = new AbortController();
  let first: FlowPlace | undefined;
  const walk = new TableWalk(
    socket,
    family,
    query,
    (flow) => {
      first ??= flow.endpoint;
      enough.abort();
    },
    async () => {},
    AbortSignal.any([signal, enough.signal]),
  );
  try {
    await walk.begin(true);
  } catch (error) {
    if (!enough.signal.aborted || signal.aborted) throw error;
  }
  return first;
}

/** The requested flows. */
export interface DumpQuery extends FlowPlace {
  readonly protocol: Protocol;
  /** The kind of place: the destination of clients, or the source of answers. */
  readonly end: 'destination' | 'endpoint';
  /** Only those that were answered, or only the others; undefined for all. */
  readonly replied: boolean | undefined;
}

/** Where each end is in a message. */
const ENDS = {
  destination: {
    ...{ tuple: CTA.TUPLE_ORIG, address: TUPLE_IP.V4_DST, port: TUPLE_PROTO.DST_PORT },
    ...{ flags: FILTER.ORIG_FLAGS, addressFlag: FILTER_FLAG.IP_DST, portFlag: FILTER_FLAG.PROTO_DST_PORT },
  },
  endpoint: {
    ...{ tuple: CTA.TUPLE_REPLY, address: TUPLE_IP.V4_SRC, port: TUPLE_PROTO.SRC_PORT },
    ...{ flags: FILTER.REPLY_FLAGS, addressFlag: FILTER_FLAG.IP_SRC, portFlag: FILTER_FLAG.PROTO_SRC_PORT },
  },
} as const;

/**
 * Writes the filter that makes the kernel send only flows that match the query. Kernels before 5.8 ignore it and send
 * everything; those before 5.18 ignore the status. Ports of SCTP are not compared. It has no IPv6 addresses, because kernels
 * compare them the wrong way round: they send only what does not match.
 */
function writeDumpFilter(writer: MessageWriter, query: DumpQuery): void {
  const { address, port, replied } = query;
  const end = ENDS[query.end];
  const ipv4 = address === undefined || address.includes(':') ? undefined : address;
  const tuple = writer.beginNest(end.tuple);
  if (ipv4 !== undefined) {
    const ip = writer.beginNest(TUPLE.IP);
    writer.putBytes(end.address, addressBytes(ipv4));
    writer.endNest(ip);
  }
  const protocol = writer.beginNest(TUPLE.PROTO);
  writer.putU8(TUPLE_PROTO.NUM, PROTOCOL_NUMBERS[query.protocol]);
  if (port !== undefined) writer.putBytes(end.port, Uint8Array.of(port >>> 8, port & 0xff));
  writer.endNest(protocol);
  writer.endNest(tuple);
  const flags =
    FILTER_FLAG.PROTO_NUM |
    (ipv4 === undefined ? 0 : end.addressFlag) |
    (port === undefined ? 0 : end.portFlag);
  const filter = writer.beginNest(CTA.FILTER);
  // Unlike most numbers in attributes, these have the host's byte order.
  writer.putBytes(end.flags, Uint8Array.of(flags, 0, 0, 0));
  writer.endNest(filter);
  if (replied === undefined) return;
  writer.putU32(CTA.STATUS, replied ? STATUS_SEEN_REPLY : 0);
  writer.putU32(CTA.STATUS_MASK, STATUS_SEEN_REPLY);
}
