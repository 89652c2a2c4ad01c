import { GENERIC_HEADER, type GenericFamily } from '../generic.js';
import { addressBytes, addressText } from '../netlink/addresses.js';
import { Refusal, refuseUnlessZero, type Attributes } from '../netlink/attributes.js';
import type { MessageBuilder } from '../netlink/message-builder.js';
import { AF, E, numbered } from '../netlink/numbers.js';
import {
  dump,
  FaultyProtocol,
  tell,
  type DUMPING,
  type KernelSocket,
  type Request,
} from '../netlink/requests.js';
import type {
  Destination,
  NewDestination,
  ServerId,
  ServerSettings,
  VirtualServer,
} from './virtual-server.js';
import type { VirtualServers } from './virtual-servers.js';

/* Numbers of linux/ip_vs.h. */

export const COMMAND = {
  ...numbered('NEW_SERVICE SET_SERVICE DEL_SERVICE GET_SERVICE NEW_DEST SET_DEST DEL_DEST GET_DEST', 1),
  SET_CONFIG: 12,
};
export const CMD_ATTR = { SERVICE: 1, DEST: 2 } as const;
const MAX_CMD_ATTR = 6;
export const SVC_ATTR = numbered('AF PROTOCOL ADDR PORT FWMARK SCHED_NAME FLAGS TIMEOUT NETMASK', 1);
const DEST_ATTR = numbered(
  'ADDR PORT FWD_METHOD WEIGHT U_THRESH L_THRESH ACTIVE_CONNS INACT_CONNS PERSIST_CONNS STATS ADDR_FAMILY',
  1,
);
/** IP_VS_SVC_F_HASHED, which every service has that is there. */
const HASHED = 0x2;
/** IP_VS_CONN_F_FWD_MASK. */
const FORWARDING = 0x7;
/** Longest name of a scheduler, with its zero byte. */
const MAX_SCHEDULER = 16;
/** Bytes of union nf_inet_addr. */
const ADDRESS = 16;
const VERSION = 1;

/** The family IPVS of generic netlink. */
export class IpvsFamily extends FaultyProtocol implements GenericFamily {
  readonly name = 'IPVS';
  readonly version = VERSION;
  readonly maxAttribute = MAX_CMD_ATTR;
  /** Told of each request that was to change something. */
  onWrite: (isTaken: boolean) => void = () => {};

  constructor(private readonly servers: VirtualServers) {
    super();
  }

  answer(socket: KernelSocket, request: Request, command: number): typeof DUMPING | void {
    const attributes = request.attributes(GENERIC_HEADER);
    const isQuestion = command === COMMAND.GET_SERVICE || command === COMMAND.GET_DEST;
    if (isQuestion) {
      this.meet(true);
      return request.isDump
        ? this.list(socket, request, command, attributes)
        : this.tell(socket, request, command, attributes);
    }
    let isTaken = false;
    try {
      this.meet(false);
      this.change(socket.process, command, attributes);
      isTaken = true;
    } finally {
      this.onWrite(isTaken);
    }
  }

  private list(
    socket: KernelSocket,
    request: Request,
    command: number,
    attributes: Attributes,
  ): typeof DUMPING {
    const { servers } = this;
    const { type } = request;
    // The kernel goes on by number: what moves meanwhile is missed, or listed twice.
    if (command === COMMAND.GET_SERVICE)
      return dump(socket, request, { items: byNumber(servers, () => servers.view()), put: putServer, type });
    const id = readServerId(attributes);
    const items = byNumber(servers, () => servers.find(id)?.destinations ?? new Map<string, Destination>());
    return dump(socket, request, { items, put: putDestination, type });
  }

  private tell(socket: KernelSocket, request: Request, command: number, attributes: Attributes): void {
    const server = this.servers.find(readServerId(attributes));
    if (command !== COMMAND.GET_SERVICE) throw new Refusal(E.EOPNOTSUPP);
    if (!server) throw new Refusal(E.ESRCH);
    tell(socket, request, request.type, (builder) => putServer(builder, server));
  }

  private change(process: number, command: number, attributes: Attributes): void {
    // Timeouts are kept by nobody here.
    if (command === COMMAND.SET_CONFIG) return;
    refuseUnlessZero(this.changeServer(process, command, attributes, readServerId(attributes)));
  }

  /** @returns an errno, 0 when it was done */
  private changeServer(process: number, command: number, attributes: Attributes, id: ServerId): number {
    const { servers } = this;
    const server = servers.find(id);
    switch (command) {
      case COMMAND.NEW_SERVICE:
        return servers.add(id, readServerSettings(attributes, 0), process);
      case COMMAND.SET_SERVICE:
        return servers.set(id, readServerSettings(attributes, server?.flags ?? 0), process);
      case COMMAND.DEL_SERVICE:
        return servers.delete(id, process);
      case COMMAND.NEW_DEST:
        return servers.addDestination(id, readDestination(attributes, id), process);
      case COMMAND.SET_DEST:
        return servers.setDestination(id, readDestination(attributes, id), process);
      case COMMAND.DEL_DEST:
        return servers.deleteDestination(id, readDestination(attributes, id), process);
      default:
        return E.EOPNOTSUPP;
    }
  }
}

/** One after the other by their places in what there is at the time. */
function* byNumber<T>(servers: VirtualServers, all: () => ReadonlyMap<string, T>): Generator<T> {
  let version = -1;
  let values: readonly T[] = [];
  for (let given = 0; ; given++) {
    if (servers.version !== version) [values, version] = [[...all().values()], servers.version];
    if (given >= values.length) return;
    yield values[given]!;
  }
}

function must<T>(value: T | undefined): T {
  if (value === undefined) throw new Refusal(E.EINVAL);
  return value;
}

/** Which virtual server a request is about. */
function readServerId(attributes: Attributes): ServerId {
  const server = must(attributes.nested(CMD_ATTR.SERVICE));
  const family = must(server.u16(SVC_ATTR.AF));
  const [protocol, address] = [must(server.u16(SVC_ATTR.PROTOCOL)), must(server.value(SVC_ATTR.ADDR))];
  return { family, protocol, address: textOf(address, family), port: must(server.be16(SVC_ATTR.PORT)) };
}

/** @param before its flags, of which the request may name a part */
function readServerSettings(attributes: Attributes, before: number): ServerSettings {
  const server = attributes.nested(CMD_ATTR.SERVICE)!;
  const [scheduler, flags] = [must(server.text(SVC_ATTR.SCHED_NAME)), must(server.value(SVC_ATTR.FLAGS))];
  if (flags.length !== 8 || scheduler.length >= MAX_SCHEDULER) throw new Refusal(E.EINVAL);
  const [value, mask] = [flags.readUInt32LE(0), flags.readUInt32LE(4)];
  // As stored: a mask in network byte order, a length in the host's.
  const isIPv6 = server.u16(SVC_ATTR.AF) === AF.INET6;
  const netmask = must(isIPv6 ? server.u32(SVC_ATTR.NETMASK) : server.be32(SVC_ATTR.NETMASK));
  if (isIPv6 && (netmask < 1 || netmask > 128)) throw new Refusal(E.EINVAL);
  return {
    ...{ scheduler, netmask, timeout: must(server.u32(SVC_ATTR.TIMEOUT)) },
    flags: (((before & ~mask) | (value & mask)) & ~HASHED) >>> 0,
  };
}

/** The destination that a request is about, and what it is to be. */
function readDestination(attributes: Attributes, server: ServerId): NewDestination {
  const destination = must(attributes.nested(CMD_ATTR.DEST));
  // 0 stands for that of the server.
  const family = destination.u16(DEST_ATTR.ADDR_FAMILY) || server.family;
  return {
    family,
    address: textOf(must(destination.value(DEST_ATTR.ADDR)), family),
    port: must(destination.be16(DEST_ATTR.PORT)),
    forwarding: (destination.u32(DEST_ATTR.FWD_METHOD) ?? 0) & FORWARDING,
    weight: (destination.u32(DEST_ATTR.WEIGHT) ?? 0) | 0,
  };
}

function putServer(builder: MessageBuilder, server: VirtualServer): void {
  const { family, protocol, address, port, scheduler, flags, timeout, netmask } = server;
  const both = Buffer.alloc(8, 0xff);
  both.writeUInt32LE((flags | HASHED) >>> 0, 0);
  builder.raw(Buffer.of(COMMAND.NEW_SERVICE, VERSION, 0, 0)).plainNest(CMD_ATTR.SERVICE, () => {
    builder
      .u16(SVC_ATTR.AF, family)
      .u16(SVC_ATTR.PROTOCOL, protocol)
      .attribute(SVC_ATTR.ADDR, padded(address));
    builder.be16(SVC_ATTR.PORT, port).text(SVC_ATTR.SCHED_NAME, scheduler).attribute(SVC_ATTR.FLAGS, both);
    builder.u32(SVC_ATTR.TIMEOUT, timeout);
    if (family === AF.INET6) builder.u32(SVC_ATTR.NETMASK, netmask);
    else builder.be32(SVC_ATTR.NETMASK, netmask);
  });
}

function putDestination(builder: MessageBuilder, destination: Destination): void {
  const { family, address, port, forwarding, weight, activeConnections, inactiveConnections } = destination;
  builder.raw(Buffer.of(COMMAND.NEW_DEST, VERSION, 0, 0)).plainNest(CMD_ATTR.DEST, () => {
    builder.attribute(DEST_ATTR.ADDR, padded(address)).be16(DEST_ATTR.PORT, port);
    builder.u32(DEST_ATTR.FWD_METHOD, forwarding).u32(DEST_ATTR.WEIGHT, weight);
    builder.u32(DEST_ATTR.U_THRESH, 0).u32(DEST_ATTR.L_THRESH, 0);
    builder.u32(DEST_ATTR.ACTIVE_CONNS, activeConnections).u32(DEST_ATTR.INACT_CONNS, inactiveConnections);
    builder.u32(DEST_ATTR.PERSIST_CONNS, 0).u16(DEST_ATTR.ADDR_FAMILY, family);
  });
}

/** The kernel has room for an address of IPv6 and fills what is missing with zeros. */
function textOf(bytes: Buffer, family: number): string {
  if (bytes.length > ADDRESS) throw new Refusal(E.EINVAL);
  const whole = Buffer.alloc(ADDRESS);
  bytes.copy(whole);
  return addressText(family === AF.INET ? whole.subarray(0, 4) : whole);
}

function padded(address: string): Buffer {
  const whole = Buffer.alloc(ADDRESS);
  addressBytes(address).copy(whole);
  return whole;
}
