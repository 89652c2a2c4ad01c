import type { FlowQuery } from '../../domain/conntrack/suspect-flows.js';
import type { Flow } from '../../domain/conntrack/flow.js';
import type { IpFamily } from '../../domain/net/ip-family.js';
import type { KernelReply } from '../netlink/message-reader.js';
import { MessageWriter } from '../netlink/message-writer.js';
import { writeRequest } from '../netlink/netlink-request.js';
import type { NetlinkSocket } from '../netlink/netlink-socket.js';
import { familyNumber, NLM_F_DUMP, NLM_F_DUMP_INTR } from '../netlink/protocol.js';
import { CT_GET } from './ctnetlink.js';
import { writeDumpFilter } from './dump-filter.js';
import type { FlowDeletion } from './flow-deletion.js';
import { FlowReader } from './flow-reader.js';

/** One walk through the table; it may be restarted. */
export class TableWalk {
  examined = 0;
  private readonly flow = new FlowReader();
  private readonly request = new MessageWriter(512);
  private sequence = 0;

  constructor(
    private readonly socket: NetlinkSocket,
    private readonly deletion: FlowDeletion,
    private readonly family: IpFamily,
    private readonly query: FlowQuery,
    private readonly isStale: (flow: Flow) => boolean,
    private readonly signal: AbortSignal,
  ) {}

  /**
   * Walks from the start. Flows found stale are removed even if the walk fails later.
   * @param isFiltered the kernel is asked for what the query wants; otherwise for everything
   */
  async begin(isFiltered: boolean): Promise<KernelReply> {
    const { request, socket, flow, deletion, query, signal } = this;
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
          if (!flow.read(message, 0, query.protocol) || (query.unreplied && flow.replied)) return;
          this.examined++;
          if (this.isStale(flow)) deletion.add(flow);
        },
        async () => {
          signal.throwIfAborted();
          if (deletion.full) await deletion.flush();
        },
      );
      return interrupted ? { ...reply, interrupted } : reply;
    } finally {
      await deletion.flush();
    }
  }
}
