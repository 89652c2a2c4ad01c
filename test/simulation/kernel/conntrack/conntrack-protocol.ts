import type { KernelTime } from '../change.js';
import { Refusal, refuseUnlessZero, type Attributes } from '../netlink/attributes.js';
import { MessageBuilder } from '../netlink/message-builder.js';
import { AF, E, NLM_F } from '../netlink/numbers.js';
import {
  answerEach,
  dump,
  FaultyProtocol,
  tell,
  type DUMPING,
  type KernelSocket,
  type Multicast,
  type NetlinkProtocol,
  type Request,
} from '../netlink/requests.js';
import type { Connections } from './connections.js';
import {
  CTA,
  MESSAGE,
  putConnection,
  putEvent,
  readDumpFilter,
  readProtocolInfo,
  readTuple,
  STATUS,
  type Connection,
  type Happening,
} from './ctnetlink.js';

/** How the kernel announces what happens: the type and flags of the message, and NFNLGRP_CONNTRACK_…. */
const EVENTS: Readonly<Record<Happening, readonly [type: number, flags: number, group: number]>> = {
  began: [MESSAGE.NEW, NLM_F.CREATE | NLM_F.EXCL, 1],
  changed: [MESSAGE.NEW, 0, 2],
  ceased: [MESSAGE.DELETE, 0, 3],
};
/** What never changes once it is set, as far as requests go. */
const UNCHANGEABLE = STATUS.SEEN_REPLY | STATUS.ASSURED | STATUS.CONFIRMED | STATUS.DYING;

/** The subsystem of nfnetlink that lists and removes tracked connections, and tells of them. */
export class ConntrackProtocol extends FaultyProtocol implements NetlinkProtocol {
  private readonly builder = new MessageBuilder();
  private interruptions = 0;

  /** @param filtersTuples kernels since 5.8 compare tuples themselves */
  constructor(
    private readonly connections: Connections,
    private readonly time: KernelTime,
    private readonly multicast: Multicast,
    private readonly filtersTuples = true,
  ) {
    super();
    connections.onEvent = (happening, connection) => this.announce(happening, connection);
  }

  /** The next listings are refused. */
  refuseListings(errno: number, count = 1): void {
    this.refuseQuestions(errno, count);
  }

  /** The next listings are inconsistent, as the kernel says at their end. */
  interruptListings(count = 1): void {
    this.interruptions += count;
  }

  override endTrouble(): void {
    super.endTrouble();
    this.interruptions = 0;
  }

  handle(socket: KernelSocket, bytes: Buffer): void {
    answerEach(socket, bytes, (request) => this.answer(socket, request));
  }

  private answer(socket: KernelSocket, request: Request): typeof DUMPING | void {
    const attributes = request.attributes(4);
    const family = request.payload[0]!;
    if (request.type === MESSAGE.GET)
      return request.isDump
        ? this.list(socket, request, attributes, family)
        : this.tell(socket, request, attributes, family);
    if (request.type !== MESSAGE.DELETE && request.type !== MESSAGE.NEW) throw new Refusal(E.EINVAL);
    this.meet(false);
    if (request.type === MESSAGE.DELETE) this.remove(socket, request, attributes, family);
    else this.make(socket, request, attributes, family);
  }

  private list(socket: KernelSocket, request: Request, attributes: Attributes, family: number) {
    this.meet(true);
    const matches = readDumpFilter(attributes, family, this.filtersTuples);
    const isFiltered = family !== AF.UNSPEC || attributes.has(CTA.STATUS) || attributes.has(CTA.FILTER);
    let version = 0;
    const interrupted = this.interruptions > 0;
    if (interrupted) this.interruptions--;
    const { now } = this.time;
    const { isCounting, connections } = this;
    return dump(socket, request, {
      ...{ items: filtered(connections.list(), matches), type: MESSAGE.NEW },
      flags: isFiltered ? NLM_F.DUMP_FILTERED : 0,
      version: () => (interrupted ? version++ : 0),
      put: (builder, connection) => putConnection(builder, connection, now, isCounting),
    });
  }

  private tell(socket: KernelSocket, request: Request, attributes: Attributes, family: number): void {
    const found = this.find(attributes, family);
    if (!found) throw new Refusal(E.ENOENT);
    const { isCounting, time } = this;
    const put = (builder: MessageBuilder): void => putConnection(builder, found, time.now, isCounting);
    // The kernel says so although there are no others.
    tell(socket, request, MESSAGE.NEW, put, NLM_F.MULTI);
  }

  private remove(socket: KernelSocket, request: Request, attributes: Attributes, family: number): void {
    if (!hasTuple(attributes)) {
      // Without a version, the family is not regarded.
      const [, version] = request.payload;
      return this.connections.flush(version === 0 ? AF.UNSPEC : family, socket.process);
    }
    const found = this.find(attributes, family);
    if (!found || (attributes.be32(CTA.ID) ?? found.id) !== found.id) throw new Refusal(E.ENOENT);
    this.connections.remove(found, socket.process);
  }

  private make(socket: KernelSocket, request: Request, attributes: Attributes, family: number): void {
    const found = this.find(attributes, family);
    const seconds = attributes.be32(CTA.TIMEOUT);
    const expiresAt = seconds === undefined ? undefined : this.time.now + seconds * 1_000;
    const status = attributes.be32(CTA.STATUS);
    if (found) {
      if (request.has(NLM_F.EXCL)) throw new Refusal(E.EEXIST);
      if ((found.status & ~(status ?? found.status) & UNCHANGEABLE) !== 0) throw new Refusal(E.EBUSY);
      const change = { status: found.status | (status ?? 0), expiresAt: expiresAt ?? found.expiresAt };
      this.connections.update(found, { ...change, ...readProtocolInfo(attributes, found) }, socket.process);
      return;
    }
    if (!request.has(NLM_F.CREATE)) throw new Refusal(E.ENOENT);
    const original = readTuple(attributes, CTA.TUPLE_ORIG, family);
    const reply = readTuple(attributes, CTA.TUPLE_REPLY, family);
    if (expiresAt === undefined) throw new Refusal(E.EINVAL);
    const connection = {
      ...{ original, reply, zone: zoneOf(attributes), expiresAt, ...readProtocolInfo(attributes) },
      ...{ status: (status ?? 0) | STATUS.CONFIRMED },
      ...{ sent: { packets: 0, bytes: 0 }, answered: { packets: 0, bytes: 0 } },
    };
    refuseUnlessZero(this.connections.insert(connection, socket.process));
  }

  private find(attributes: Attributes, family: number): Connection | undefined {
    if (!hasTuple(attributes)) throw new Refusal(E.EINVAL);
    const type = attributes.has(CTA.TUPLE_ORIG) ? CTA.TUPLE_ORIG : CTA.TUPLE_REPLY;
    return this.connections.find(readTuple(attributes, type, family), zoneOf(attributes));
  }

  private announce(happening: Happening, connection: Connection): void {
    if (this.connections.sysctl('nf_conntrack_events') === 0) return;
    const { builder } = this;
    const [type, flags, group] = EVENTS[happening];
    builder.begin(type, flags, 0, 0);
    putEvent(builder, happening, connection, this.time.now, this.isCounting);
    this.multicast(group, builder.end().take());
  }

  private get isCounting(): boolean {
    return this.connections.sysctl('nf_conntrack_acct') !== 0;
  }
}

function* filtered<T>(items: Iterable<T>, isMeant: (item: T) => boolean): Generator<T> {
  for (const item of items) if (isMeant(item)) yield item;
}

function hasTuple(attributes: Attributes): boolean {
  return attributes.has(CTA.TUPLE_ORIG) || attributes.has(CTA.TUPLE_REPLY);
}

function zoneOf(attributes: Attributes): number {
  return attributes.be16(CTA.ZONE) ?? 0;
}
