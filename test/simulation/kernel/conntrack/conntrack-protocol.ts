import type { KernelTime } from '../kernel-time.js';
import type { KernelSocket, Multicast, NetlinkProtocol } from '../netlink-protocol.js';
import { attributesIn, attributesWithin, type Attributes } from '../netlink/attributes.js';
import { dump } from '../netlink/dump.js';
import { MessageBuilder } from '../netlink/message-builder.js';
import {
  AF_UNSPEC,
  EBUSY,
  EEXIST,
  EINVAL,
  ENOENT,
  NLM_F_CREATE,
  NLM_F_DUMP_FILTERED,
  NLM_F_EXCL,
  NLM_F_MULTI,
} from '../netlink/numbers.js';
import { Refusals } from '../netlink/refusals.js';
import {
  answerEach,
  asksForAll,
  outcomeOf,
  refuse,
  type Outcome,
  type Refusal,
  type Request,
} from '../netlink/requests.js';
import { tell } from '../netlink/tell.js';
import { putConnection, putEvent, type MessageContext } from './connection-messages.js';
import type { Connection } from './connection.js';
import { idOf, type Connections, type Happening } from './connections.js';
import { CTA, CTA_PROTOINFO, CTA_SCTP, CTA_TCP, GROUP, MESSAGE, STATUS, UNCHANGEABLE } from './ctnetlink.js';
import { readDumpFilter } from './dump-filter.js';
import { readTuple } from './tuple.js';

export interface ConntrackOptions {
  /** Kernels since 5.8 compare tuples themselves. */
  readonly filtersTuples?: boolean;
  /** Whether anybody hears a multicast group. */
  readonly isHeard?: (group: number) => boolean;
}

/** How the kernel announces what happens. */
const EVENTS: Readonly<Record<Happening, readonly [type: number, flags: number, group: number]>> = {
  began: [MESSAGE.NEW, NLM_F_CREATE | NLM_F_EXCL, GROUP.NEW],
  changed: [MESSAGE.NEW, 0, GROUP.UPDATE],
  ceased: [MESSAGE.DELETE, 0, GROUP.DESTROY],
};

/** The subsystem of nfnetlink that lists and removes tracked connections, and tells of them. */
export class ConntrackProtocol implements NetlinkProtocol {
  private readonly builder = new MessageBuilder();
  private readonly changes = new Refusals();
  private readonly listings = new Refusals();
  private interruptions = 0;

  constructor(
    private readonly connections: Connections,
    private readonly time: KernelTime,
    private readonly multicast: Multicast,
    private readonly options: ConntrackOptions = {},
  ) {
    connections.onEvent = (happening, connection) => this.announce(happening, connection);
  }

  /** The next requests that remove or make connections are refused. */
  refuseNext(errno: number, count = 1): void {
    this.changes.add(errno, count);
  }

  /** The next listings are refused. */
  refuseListings(errno: number, count = 1): void {
    this.listings.add(errno, count);
  }

  /** The next listings are inconsistent, as the kernel says at their end. */
  interruptListings(count = 1): void {
    this.interruptions += count;
  }

  /** Nothing is refused any more without a reason. */
  endTrouble(): void {
    this.changes.clear();
    this.listings.clear();
    this.interruptions = 0;
  }

  handle(socket: KernelSocket, bytes: Buffer): number {
    return answerEach(socket, bytes, (request) => this.answer(socket, request));
  }

  private answer(socket: KernelSocket, request: Request): Outcome {
    const family = request.payload[0];
    const attributes = attributesIn(request.payload.subarray(4));
    if (family === undefined || !attributes) return refuse(EINVAL);
    switch (request.type) {
      case MESSAGE.GET:
        return asksForAll(request)
          ? this.list(socket, request, attributes, family)
          : this.tell(socket, request, attributes, family);
      case MESSAGE.DELETE:
        return this.changes.next() ?? this.remove(socket, request, attributes, family);
      case MESSAGE.NEW:
        return this.changes.next() ?? this.make(socket, request, attributes, family);
      default:
        return refuse(EINVAL);
    }
  }

  private list(socket: KernelSocket, request: Request, attributes: Attributes, family: number): Outcome {
    const refusal = this.listings.next();
    if (refusal) return refusal;
    const matches = readDumpFilter(attributes, family, this.options.filtersTuples ?? true);
    if (typeof matches !== 'function') return matches;
    const found = this.connections.list();
    const next = (): Connection | undefined => {
      for (let item = found.next(); !item.done; item = found.next())
        if (matches(item.value)) return item.value;
      return undefined;
    };
    let version = 0;
    const interrupted = this.interruptions > 0;
    if (interrupted) this.interruptions--;
    const { context } = this;
    return dump(socket, request, {
      ...{ next, type: MESSAGE.NEW, flags: isFiltered(attributes, family) ? NLM_F_DUMP_FILTERED : 0 },
      version: () => (interrupted ? version++ : 0),
      put: (builder, connection) => putConnection(builder, connection, context),
    });
  }

  private tell(socket: KernelSocket, request: Request, attributes: Attributes, family: number): Outcome {
    const found = this.find(attributes, family);
    if ('errno' in found) return found;
    const { context } = this;
    // The kernel says so although there are no others.
    tell(socket, request, MESSAGE.NEW, (builder) => putConnection(builder, found, context), NLM_F_MULTI);
    return undefined;
  }

  private remove(socket: KernelSocket, request: Request, attributes: Attributes, family: number): Outcome {
    if (!hasTuple(attributes)) {
      // Without a version, the family is not regarded.
      const version = request.payload[1];
      this.connections.flush(version === 0 ? AF_UNSPEC : family, socket.process);
      return undefined;
    }
    const found = this.find(attributes, family);
    if ('errno' in found) return found;
    const id = attributes.get(CTA.ID);
    if (id && id.readUInt32BE(0) !== found.id) return refuse(ENOENT);
    this.connections.remove(found, socket.process);
    return undefined;
  }

  private make(socket: KernelSocket, request: Request, attributes: Attributes, family: number): Outcome {
    const found = this.find(attributes, family);
    if (!('errno' in found))
      return (request.flags & NLM_F_EXCL) !== 0 ? refuse(EEXIST) : this.change(socket, found, attributes);
    if (found.errno !== ENOENT || (request.flags & NLM_F_CREATE) === 0) return found;
    const original = readTuple(attributes, CTA.TUPLE_ORIG, family);
    const reply = readTuple(attributes, CTA.TUPLE_REPLY, family);
    const timeout = attributes.get(CTA.TIMEOUT);
    if ('errno' in original || 'errno' in reply || !timeout) return refuse(EINVAL);
    const zone = zoneOf(attributes);
    const connection: Connection = {
      ...{ original, reply, zone, id: idOf(original, zone), mark: numberOf(attributes, CTA.MARK) ?? 0 },
      status: (numberOf(attributes, CTA.STATUS) ?? 0) | STATUS.CONFIRMED,
      state: stateOf(attributes) ?? 0,
      ...{
        sentFlags: flagsOf(attributes, CTA_TCP.FLAGS_ORIG, 0),
        answeredFlags: flagsOf(attributes, CTA_TCP.FLAGS_REPLY, 0),
      },
      startedAt: this.time.now,
      expiresAt: this.time.now + timeout.readUInt32BE(0) * 1_000,
      ...{ sent: { packets: 0, bytes: 0 }, answered: { packets: 0, bytes: 0 } },
    };
    return outcomeOf(this.connections.insert(connection, socket.process));
  }

  private change(socket: KernelSocket, connection: Connection, attributes: Attributes): Outcome {
    const status = numberOf(attributes, CTA.STATUS) ?? connection.status;
    if ((connection.status & ~status & UNCHANGEABLE) !== 0) return refuse(EBUSY);
    const seconds = numberOf(attributes, CTA.TIMEOUT);
    const change = {
      status: connection.status | status,
      mark: numberOf(attributes, CTA.MARK) ?? connection.mark,
      state: stateOf(attributes) ?? connection.state,
      sentFlags: flagsOf(attributes, CTA_TCP.FLAGS_ORIG, connection.sentFlags),
      answeredFlags: flagsOf(attributes, CTA_TCP.FLAGS_REPLY, connection.answeredFlags),
      expiresAt: seconds === undefined ? connection.expiresAt : this.time.now + seconds * 1_000,
    };
    this.connections.update(connection, change, socket.process);
    return undefined;
  }

  private find(attributes: Attributes, family: number): Connection | Refusal {
    if (!hasTuple(attributes)) return refuse(EINVAL);
    const type = attributes.has(CTA.TUPLE_ORIG) ? CTA.TUPLE_ORIG : CTA.TUPLE_REPLY;
    const tuple = readTuple(attributes, type, family);
    if ('errno' in tuple) return tuple;
    return this.connections.find(tuple, zoneOf(attributes)) ?? refuse(ENOENT);
  }

  private announce(happening: Happening, connection: Connection): void {
    if (this.connections.sysctl('nf_conntrack_events') === 0) return;
    const { builder } = this;
    const [type, flags, group] = EVENTS[happening];
    if (this.options.isHeard?.(group) === false) return;
    builder.begin(type, flags, 0, 0);
    putEvent(builder, happening, connection, this.context);
    this.multicast(group, builder.end().take());
  }

  private get context(): MessageContext {
    const { connections } = this;
    return {
      now: this.time.now,
      countsPackets: connections.sysctl('nf_conntrack_acct') !== 0,
      keepsTimes: connections.sysctl('nf_conntrack_timestamp') !== 0,
    };
  }
}

function hasTuple(attributes: Attributes): boolean {
  return attributes.has(CTA.TUPLE_ORIG) || attributes.has(CTA.TUPLE_REPLY);
}

function isFiltered(attributes: Attributes, family: number): boolean {
  return family !== AF_UNSPEC || [CTA.MARK, CTA.STATUS, CTA.FILTER].some((type) => attributes.has(type));
}

function zoneOf(attributes: Attributes): number {
  return attributes.get(CTA.ZONE)?.readUInt16BE(0) ?? 0;
}

function numberOf(attributes: Attributes, type: number): number | undefined {
  return attributes.get(type)?.readUInt32BE(0);
}

function stateOf(attributes: Attributes): number | undefined {
  const info = attributesWithin(attributes, CTA.PROTOINFO);
  if (!info) return undefined;
  const tcp = attributesWithin(info, CTA_PROTOINFO.TCP)?.get(CTA_TCP.STATE);
  return tcp?.[0] ?? attributesWithin(info, CTA_PROTOINFO.SCTP)?.get(CTA_SCTP.STATE)?.[0];
}

/** struct nf_ct_tcp_flags: flags, and which of them change. */
function flagsOf(attributes: Attributes, type: number, before: number): number {
  const info = attributesWithin(attributes, CTA.PROTOINFO);
  const tcp = info && attributesWithin(info, CTA_PROTOINFO.TCP);
  const [flags = 0, mask = 0] = tcp?.get(type) ?? [];
  return (before & ~mask) | (flags & mask);
}
