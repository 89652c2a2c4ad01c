import type { FlowPlace } from '../../domain/conntrack/flow-place.js';
import type { IpFamily } from '../../domain/net/ip-family.js';
import type { KernelReply } from '../netlink/message-reader.js';
import { MessageWriter } from '../netlink/message-writer.js';
import { writeRequest } from '../netlink/netlink-request.js';
import type { NetlinkSocket } from '../netlink/netlink-socket.js';
import { familyNumber, NLM_F_DUMP, NLM_F_DUMP_INTR } from '../netlink/protocol.js';
import { CT_GET } from './ctnetlink.js';
import { writeDumpFilter, type DumpQuery } from './dump-filter.js';
import { FlowReader } from './flow-reader.js';

/** One walk through the table; it may be restarted. */
export class TableWalk {
  examined = 0;
  private readonly flow = new FlowReader();
  private readonly request = new MessageWriter(512);
  private sequence = 0;

  /**
   * @param onFlow called with each flow of the protocol that was answered as the query says
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
   * @param isFiltered the kernel is asked for what the query wants; otherwise for everything
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
 * The endpoint of the first flow that the kernel shows when it is asked for what the query wants; undefined if it shows none. Reads no
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
