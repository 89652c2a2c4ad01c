import { errorMessage } from '../../application/error-message.js';
import { ConntrackUnavailableError } from '../../application/ports/node/conntrack.js';
import type {
  EventsRead,
  FlowEvents,
  FlowSink,
  TrackedConnections,
} from '../../application/ports/node/flow-events.js';
import { PROTOCOL_NUMBERS } from '../../domain/model/service-port-name.js';
import type { IpFamily } from '../../domain/net/ip-family.js';
import { ADDRESS_FACTOR, PORT_FACTOR } from '../../domain/traffic/sample.js';
import type { SeenFlow } from '../../domain/conntrack/flow.js';
import { NetlinkRequestError } from '../netlink/errors.js';
import type { NetlinkMessage } from '../netlink/message-reader.js';
import { MessageWriter } from '../netlink/message-writer.js';
import { writeRequest } from '../netlink/netlink-channel.js';
import { NetlinkSocket, type NetlinkSocketOptions } from '../netlink/netlink-socket.js';
import {
  assemble,
  ATTRIBUTE,
  NESTED_ATTRIBUTE,
  WHOLE_MESSAGE,
  type FilterProgram,
} from '../netlink/packet-filter.js';
import { NETLINK_NETFILTER, NLM_F_CREATE, NLM_F_DUMP, familyNumber } from '../netlink/protocol.js';
import { readSysctl } from '../sysctl.js';
import {
  BOTH_FAMILIES,
  CT_EVENT,
  CT_EVENT_GROUPS,
  CT_GET,
  CTA,
  PROTOINFO,
  PROTOINFO_TCP,
  STATUS_ASSURED,
  TCP_TIME_WAIT,
} from './ctnetlink.js';
import { FlowReader } from './flow-reader.js';

/** Room for some thousand events: those of a tenth of a second on a busy node. */
const RECEIVE_BUFFER = 8 * 1024 * 1024;

interface FlowEventsOptions {
  /** IPVS carries the connections of Services, as in IPVS mode. */
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
      if (reader.read(message, this.shift)) passOn(sink, message, reader);
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

function passOn(sink: FlowSink, { type, flags }: NetlinkMessage, flow: SeenFlow): void {
  if (type === CT_EVENT.delete) sink.ceased(flow);
  else if (type !== CT_EVENT.new) return;
  else if ((flags & NLM_F_CREATE) !== 0) sink.began(flow);
  else sink.changed(flow);
}

/**
 * Places in a message. The kernel writes the original tuple first, and its parts always in this order: family; source and
 * destination address; protocol; source and destination port.
 */
const KIND = 4;
const FLAGS_HIGH = 7;
const FAMILY = 16;
const ATTRIBUTES = 20;
const IPV4 = { client: 32, protocol: 52, clientPort: 60 } as const;
const IPV6 = { client: 44, protocol: 76, clientPort: 84 } as const;

/** From the start of an attribute to the last byte of its number. */
const LAST_BYTE_OF_WORD = 7;
const ONLY_BYTE = 4;

/**
 * The socket filter by which the kernel hands over only what counting needs, before it costs anything here: TCP, UDP and SCTP
 * connections of the sample (`flowHash`, `inSample`), and of their changes those before the kernel is sure that packets
 * flow both ways, among them the first answer, and those after both ends have closed.
 */
export function eventFilter(shift: number): FilterProgram {
  return [
    ['loadByte', FAMILY],
    ['ifEqual', familyNumber('IPv4'), 'IPv4', 'or IPv6'],
    'or IPv6',
    ['ifEqual', familyNumber('IPv6'), 'IPv6', 'drop'],
    ...wanted('IPv4', IPV4, shift),
    ...wanted('IPv6', IPV6, shift),
    'kind',
    ['loadByte', KIND],
    ['ifEqual', CT_EVENT.new & 0xff, 'begun or changed', 'pass'],
    'begun or changed',
    ['loadByte', FLAGS_HIGH],
    ['ifAnyBit', NLM_F_CREATE >>> 8, 'pass', 'changed'],
    'changed',
    ['setX', CTA.STATUS],
    ['set', ATTRIBUTES],
    ['loadWord', ATTRIBUTE],
    ['ifEqual', 0, 'pass', 'status'],
    'status',
    ['toX', 0],
    ['loadByteAtX', LAST_BYTE_OF_WORD],
    ['ifAnyBit', STATUS_ASSURED, 'sure', 'pass'],
    'sure',
    ['setX', CTA.PROTOINFO],
    ['set', ATTRIBUTES],
    ['loadWord', ATTRIBUTE],
    ['ifEqual', 0, 'drop', 'protocol'],
    'protocol',
    ['setX', PROTOINFO.TCP],
    ['loadWord', NESTED_ATTRIBUTE],
    ['ifEqual', 0, 'drop', 'tcp'],
    'tcp',
    ['setX', PROTOINFO_TCP.STATE],
    ['loadWord', NESTED_ATTRIBUTE],
    ['ifEqual', 0, 'drop', 'state'],
    'state',
    ['toX', 0],
    ['loadByteAtX', ONLY_BYTE],
    ['ifAtLeast', TCP_TIME_WAIT, 'pass', 'drop'],
    'pass',
    ['end', WHOLE_MESSAGE],
    'drop',
    ['end', 0],
  ];
}

type Places = typeof IPV4 | typeof IPV6;

function wanted(family: IpFamily, { protocol, client, clientPort }: Places, shift: number): FilterProgram {
  const next = `sample ${family}`;
  return [
    family,
    ['loadByte', protocol],
    ['ifEqual', PROTOCOL_NUMBERS.TCP, next, `${next} or UDP`],
    `${next} or UDP`,
    ['ifEqual', PROTOCOL_NUMBERS.UDP, next, `${next} or SCTP`],
    `${next} or SCTP`,
    ['ifEqual', PROTOCOL_NUMBERS.SCTP, next, 'drop'],
    next,
    ...(shift > 0 ? sampled(client, clientPort, shift) : [['ifAtLeast', 0, 'kind', 'kind'] as const]),
  ];
}

function sampled(client: number, clientPort: number, shift: number): FilterProgram {
  return [
    ['loadHalf', clientPort],
    ['multiply', PORT_FACTOR],
    ['toX', 0],
    ['loadWord', client],
    ['multiply', ADDRESS_FACTOR],
    ['xorX', 0],
    ['shiftRight', 32 - shift],
    ['ifEqual', 0, 'kind', 'drop'],
  ];
}
