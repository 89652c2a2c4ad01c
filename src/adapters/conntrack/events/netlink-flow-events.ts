import { errorMessage } from '../../../application/error-message.js';
import { ConntrackUnavailableError } from '../../../application/ports/node/conntrack.js';
import type {
  EventsRead,
  FlowEvents,
  FlowSink,
  TrackedConnections,
} from '../../../application/ports/node/flow-events.js';
import type { SeenFlow } from '../../../domain/traffic/seen-flow.js';
import { NetlinkRequestError } from '../../netlink/errors.js';
import type { NetlinkMessage } from '../../netlink/message-reader.js';
import { MessageWriter } from '../../netlink/message-writer.js';
import { writeRequest } from '../../netlink/netlink-request.js';
import { NetlinkSocket, type NetlinkSocketOptions } from '../../netlink/netlink-socket.js';
import { assemble } from '../../netlink/packet-filter.js';
import { NETLINK_NETFILTER, NLM_F_CREATE, NLM_F_DUMP } from '../../netlink/protocol.js';
import { readSysctl } from '../../sysctl.js';
import { BOTH_FAMILIES, CT_EVENT, CT_EVENT_GROUPS, CT_GET } from '../ctnetlink.js';
import { eventFilter } from './event-filter.js';
import { FlowReader } from '../flow-reader.js';

/** Room for some thousand events: those of a tenth of a second on a busy node. */
const RECEIVE_BUFFER = 8 * 1024 * 1024;

export interface FlowEventsOptions {
  /** IPVS carries the connections of Services, as in mode ipvs. */
  readonly throughIpvs: boolean;
  /** For tests. */
  readonly openSocket?: (options: NetlinkSocketOptions) => NetlinkSocket;
  /** For tests. */
  readonly sysctls?: string;
}

/** Over ctnetlink. One socket hears events, filtered by the kernel; every walk has its own. */
export class NetlinkFlowEvents implements FlowEvents {
  private socket: NetlinkSocket | undefined;
  private shift = 0;
  private readonly reader = new FlowReader();

  private readonly openSocket: (options: NetlinkSocketOptions) => NetlinkSocket;

  constructor(private readonly options: FlowEventsOptions) {
    this.openSocket = options.openSocket ?? ((more) => NetlinkSocket.open(NETLINK_NETFILTER, more));
  }

  open(): void {
    if (this.socket) return;
    try {
      this.socket = this.openSocket({ groups: CT_EVENT_GROUPS, receiveBuffer: RECEIVE_BUFFER });
      this.sample(this.shift);
    } catch (error) {
      this.close();
      throw new ConntrackUnavailableError(errorMessage(error), { cause: error });
    }
  }

  read(sink: FlowSink): EventsRead {
    const { reader, socket } = this;
    let count = 0;
    const lost = socket?.collectMessages((message) => {
      count++;
      // Those that were on their way when the sample was made smaller are left out here.
      if (reader.read(message, this.shift)) tell(sink, message, reader);
    });
    return { count, lost: lost ?? false };
  }

  sample(shift: number): void {
    this.shift = shift;
    this.socket?.filter(assemble(eventFilter(shift)));
  }

  async walk(
    found: (flow: SeenFlow) => void,
    pause: (walked: number) => Promise<void>,
    signal: AbortSignal,
  ): Promise<void> {
    const socket = this.openSocket({});
    const reader = new FlowReader();
    const request = new MessageWriter(64);
    const sequence = 1;
    let walked = 0;
    try {
      const put = (): void => request.putWord(BOTH_FAMILIES);
      writeRequest(request, { type: CT_GET, put }, NLM_F_DUMP, sequence);
      await socket.send(request.bytes, request.length);
      const { errno, explanation } = await socket.receiveDump(
        sequence,
        (message) => {
          walked++;
          if (reader.read(message, this.shift)) found(reader);
        },
        async () => {
          signal.throwIfAborted();
          await pause(walked);
          walked = 0;
          signal.throwIfAborted();
        },
      );
      if (errno !== 0) throw new NetlinkRequestError('listing tracked connections', errno, explanation);
    } finally {
      socket.close();
    }
  }

  table(): TrackedConnections {
    const { throughIpvs } = this.options;
    return {
      count: this.sysctl('net/netfilter/nf_conntrack_count'),
      countsBytes: this.sysctl('net/netfilter/nf_conntrack_acct') === 1,
      hidesDeadOnBridges: this.sysctl('net/bridge/bridge-nf-call-iptables') === 1,
      tracksServices: !throughIpvs || this.sysctl('net/ipv4/vs/conntrack') === 1,
    };
  }

  close(): void {
    this.socket?.close();
    this.socket = undefined;
  }

  /** 0 if there is none: then the kernel tracks nothing yet. */
  private sysctl(name: string): number {
    return Number(readSysctl(name, this.options.sysctls) ?? 0);
  }
}

function tell(sink: FlowSink, { type, flags }: NetlinkMessage, flow: SeenFlow): void {
  if (type === CT_EVENT.delete) sink.ceased(flow);
  else if (type !== CT_EVENT.new) return;
  else if ((flags & NLM_F_CREATE) !== 0) sink.began(flow);
  else sink.changed(flow);
}
