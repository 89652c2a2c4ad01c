/** Devices, addresses, routes, rules, neighbours and tracked connections of this network namespace, read through netlink. */

import {
  CT_GET,
  CTA,
  GENERIC_HEADER_LENGTH,
  PROTOINFO,
  STATUS_SEEN_REPLY,
  TUPLE,
  TUPLE_PROTO,
} from '../../../adapters/conntrack/ctnetlink.js';
import { AttributeReader, type NetlinkMessage } from '../../../adapters/netlink/message-reader.js';
import { NetlinkChannel, succeeded } from '../../../adapters/netlink/netlink-channel.js';
import { NetlinkSocket } from '../../../adapters/netlink/netlink-socket.js';
import {
  addressText,
  NETLINK_NETFILTER,
  NETLINK_ROUTE,
  NLM_F_DUMP,
} from '../../../adapters/netlink/protocol.js';
import {
  listAddresses,
  listLinks,
  NUD_STATES,
  readLink,
  ROUTE_HEADER_LENGTH,
  RTA_DST,
  RTA_GATEWAY,
  RTA_OIF,
  RTA_PREFSRC,
  RTM_GETNEIGH,
  RTM_GETROUTE,
} from '../../../adapters/rtnetlink/rtnetlink.js';
import { protocolOfNumber } from '../../../domain/model/service-port-name.js';
import type { IpFamily } from '../../../domain/net/ip-family.js';

/** The constants of linux/rtnetlink.h and linux/fib_rules.h that are used here alone. */
const RTM_GETLINK = 18;
const RTM_GETRULE = 34;
/** Bytes of struct ifinfomsg. */
const LINK_HEADER_LENGTH = 16;
const IFLA = { MTU: 4, MASTER: 10, OPERSTATE: 16 };
const OPERATIONAL_STATES = ['unknown', 'not present', 'down', 'lower layer down', 'testing', 'dormant', 'up'];
const RTA_PRIORITY = 6;
const RTA_MULTIPATH = 9;
const RTA_TABLE = 15;
/** The gateway of another family: the number of the family, then the address. */
const RTA_VIA = 18;
/** Bytes of struct rtnexthop: length, flags and hops, then the index of the device. */
const NEXT_HOP_LENGTH = 8;
const FRA = {
  DST: 1,
  SRC: 2,
  IIFNAME: 3,
  GOTO: 4,
  PRIORITY: 6,
  FWMARK: 10,
  TABLE: 15,
  FWMASK: 16,
  OIFNAME: 17,
};
const ROUTE_TYPES = [
  'unspec',
  'unicast',
  'local',
  'broadcast',
  'anycast',
  'multicast',
  'blackhole',
  'unreachable',
  'prohibit',
  'throw',
  'nat',
];
const RULE_ACTIONS = ['unspec', 'lookup', 'goto', 'nop', '3', '4', 'blackhole', 'unreachable', 'prohibit'];
const TABLES: Readonly<Record<number, string>> = { 253: 'default', 254: 'main', 255: 'local' };
const FAMILIES: Readonly<Record<number, IpFamily>> = { 2: 'IPv4', 10: 'IPv6' };
/** States of linux/netfilter/nf_conntrack_tcp.h and nf_conntrack_sctp.h. */
const TCP_STATES = [
  'NONE',
  'SYN_SENT',
  'SYN_RECV',
  'ESTABLISHED',
  'FIN_WAIT',
  'CLOSE_WAIT',
  'LAST_ACK',
  'TIME_WAIT',
  'CLOSE',
  'SYN_SENT2',
];
const SCTP_STATES = [
  'NONE',
  'CLOSED',
  'COOKIE_WAIT',
  'COOKIE_ECHOED',
  'ESTABLISHED',
  'SHUTDOWN_SENT',
  'SHUTDOWN_RECD',
  'SHUTDOWN_ACK_SENT',
  'HEARTBEAT_SENT',
];

function withRoutes<T>(use: (channel: NetlinkChannel) => Promise<T>): Promise<T> {
  return NetlinkChannel.during(() => NetlinkSocket.open(NETLINK_ROUTE), use);
}

/** All objects of a kind, of both families. @param headerWords of the request, which are zero */
function listAll<T>(
  channel: NetlinkChannel,
  type: number,
  attempt: string,
  headerWords: number,
  read: (message: NetlinkMessage) => T | undefined,
): Promise<readonly T[]> {
  return channel.list(
    {
      type,
      attempt,
      put(writer) {
        for (let word = 0; word < headerWords; word++) writer.putWord(0);
      },
    },
    read,
  );
}

/** The devices with their addresses. */
export function listDevices(): Promise<readonly object[]> {
  return withRoutes(async (channel) => {
    const addresses = await listAddresses(channel);
    return listAll(channel, RTM_GETLINK, 'listing the devices of this node', 4, (message) => {
      const { flags, ...link } = readLink(message);
      const ownAddresses = addresses.flatMap(({ device, key }) =>
        device === link.index ? key.split(' ')[1]! : [],
      );
      return { ...link, ...linkFacts(message), flags: `0x${flags.toString(16)}`, addresses: ownAddresses };
    });
  });
}

function linkFacts({ bytes, start, end }: NetlinkMessage): object {
  const attributes = new AttributeReader(bytes, start + LINK_HEADER_LENGTH, end);
  const facts: { mtu?: number; master?: number; state?: string } = {};
  while (attributes.next()) {
    if (attributes.type === IFLA.MTU) facts.mtu = attributes.hostNumber();
    else if (attributes.type === IFLA.MASTER) facts.master = attributes.hostNumber();
    else if (attributes.type === IFLA.OPERSTATE) facts.state = OPERATIONAL_STATES[attributes.hostNumber()]!;
  }
  return facts;
}

/** The routes of all tables, a line each, as `ip route show table all` prints them. */
export function listRoutes(): Promise<string> {
  return withRoutes(async (channel) => {
    const devices = new Map((await listLinks(channel)).map(({ index, name }) => [index, name]));
    const nameOf = (index: number): string => devices.get(index) ?? String(index);
    const routes = await listAll(channel, RTM_GETROUTE, 'listing the routes of this node', 3, (message) =>
      routeLine(message, nameOf),
    );
    return `${routes.join('\n')}\n`;
  });
}

function routeLine(
  { bytes, start, end }: NetlinkMessage,
  nameOf: (device: number) => string,
): string | undefined {
  const family = FAMILIES[bytes[start]!];
  if (!family) return undefined;
  const type = bytes[start + 7]!;
  const attributes = new AttributeReader(bytes, start + ROUTE_HEADER_LENGTH, end);
  let destination = 'default';
  let table = bytes[start + 4]!;
  const words: string[] = [];
  while (attributes.next()) {
    const address = (): string => addressText(bytes, attributes.start, attributes.end);
    if (attributes.type === RTA_DST) destination = `${address()}/${bytes[start + 1]}`;
    else if (attributes.type === RTA_GATEWAY) words.push('via', address());
    else if (attributes.type === RTA_VIA)
      words.push('via', addressText(bytes, attributes.start + 2, attributes.end));
    else if (attributes.type === RTA_OIF) words.push('dev', nameOf(attributes.hostNumber()));
    else if (attributes.type === RTA_PREFSRC) words.push('src', address());
    else if (attributes.type === RTA_PRIORITY) words.push('metric', String(attributes.hostNumber()));
    else if (attributes.type === RTA_TABLE) table = attributes.hostNumber();
    else if (attributes.type === RTA_MULTIPATH) words.push(...nextHops(bytes, attributes, nameOf));
  }
  return [ROUTE_TYPES[type] ?? String(type), destination, ...words, 'table', tableName(table)].join(' ');
}

function nextHops(
  bytes: Buffer,
  { start, end }: AttributeReader,
  nameOf: (device: number) => string,
): readonly string[] {
  const words: string[] = [];
  for (let at = start; at + NEXT_HOP_LENGTH <= end;) {
    const length = bytes.readUInt16LE(at);
    const attributes = new AttributeReader(bytes, at + NEXT_HOP_LENGTH, at + length);
    words.push('nexthop');
    while (attributes.next())
      if (attributes.type === RTA_GATEWAY)
        words.push('via', addressText(bytes, attributes.start, attributes.end));
    words.push('dev', nameOf(bytes.readInt32LE(at + 4)), 'weight', String(bytes[at + 3]! + 1));
    at += Math.max(NEXT_HOP_LENGTH, length);
  }
  return words;
}

function tableName(number: number): string {
  return TABLES[number] ?? String(number);
}

/** The rules that choose a table of routes, a line each, as `ip rule` prints them. */
export function listRoutingRules(): Promise<string> {
  return withRoutes(async (channel) => {
    const rules = await listAll(channel, RTM_GETRULE, 'listing the routing rules of this node', 3, ruleLine);
    return `${rules.join('\n')}\n`;
  });
}

function ruleLine({ bytes, start, end }: NetlinkMessage): string | undefined {
  const family = FAMILIES[bytes[start]!];
  if (!family) return undefined;
  const attributes = new AttributeReader(bytes, start + ROUTE_HEADER_LENGTH, end);
  const action = bytes[start + 7]!;
  let table = bytes[start + 4]!;
  let [priority, mark, mask, target] = [0, 0, 0, 0];
  let from = 'all';
  const words: string[] = [];
  while (attributes.next()) {
    const address = (bits: number): string =>
      `${addressText(bytes, attributes.start, attributes.end)}/${bytes[start + bits]}`;
    if (attributes.type === FRA.SRC) from = address(2);
    else if (attributes.type === FRA.DST) words.push('to', address(1));
    else if (attributes.type === FRA.IIFNAME) words.push('iif', attributes.text());
    else if (attributes.type === FRA.OIFNAME) words.push('oif', attributes.text());
    else if (attributes.type === FRA.PRIORITY) priority = attributes.hostNumber();
    else if (attributes.type === FRA.FWMARK) mark = attributes.hostNumber();
    else if (attributes.type === FRA.FWMASK) mask = attributes.hostNumber();
    else if (attributes.type === FRA.TABLE) table = attributes.hostNumber();
    else if (attributes.type === FRA.GOTO) target = attributes.hostNumber();
  }
  if (mark !== 0 || (mask !== 0 && mask !== 0xffff_ffff))
    words.push('fwmark', `0x${mark.toString(16)}/0x${mask.toString(16)}`);
  const verb = RULE_ACTIONS[action] ?? String(action);
  const operand = { lookup: [tableName(table)], goto: [String(target)] }[verb] ?? [];
  return `${family} ${priority}: ${['from', from, ...words, verb, ...operand].join(' ')}`;
}

type Counts = Record<string, number>;

function count(counts: Counts, name: string): void {
  counts[name] = (counts[name] ?? 0) + 1;
}

/** How many neighbours there are, by family and state. */
export async function countNeighbours(): Promise<Readonly<Record<string, Counts>>> {
  const counts: Record<string, Counts> = {};
  const states = await withRoutes((channel) =>
    listAll(channel, RTM_GETNEIGH, 'listing the neighbours of this node', 3, ({ bytes, start }) => {
      const family = FAMILIES[bytes[start]!];
      return family && ([family, bytes.readUInt16LE(start + 8)] as const);
    }),
  );
  for (const [family, state] of states)
    count((counts[family] ??= {}), NUD_STATES.get(state) ?? `0x${state.toString(16)}`);
  return counts;
}

/** How many connections are tracked, by protocol and state. No address of a client is in it. */
export async function countConnections(): Promise<Readonly<Record<string, Counts>>> {
  const counts: Record<string, Counts> = {};
  await NetlinkChannel.during(
    () => NetlinkSocket.open(NETLINK_NETFILTER),
    (channel) =>
      channel.runExclusive(async (conversation) => {
        const attempt = 'listing the tracked connections';
        const request = {
          type: CT_GET,
          attempt,
          put: (writer: { putWord(word: number): void }) => writer.putWord(0),
        };
        const reply = await conversation.exchange(request, NLM_F_DUMP, (message) => {
          const { protocol, state } = connectionIn(message);
          count((counts[protocol] ??= {}), state);
        });
        succeeded(request, reply);
      }),
  );
  return counts;
}

function connectionIn({ bytes, start, end }: NetlinkMessage): {
  readonly protocol: string;
  readonly state: string;
} {
  const attributes = new AttributeReader(bytes, start + GENERIC_HEADER_LENGTH, end);
  let number = 0;
  let state: string | undefined;
  let isReplied = false;
  while (attributes.next()) {
    if (attributes.type === CTA.TUPLE_ORIG)
      number = valueIn(attributes.nested(), TUPLE.PROTO, TUPLE_PROTO.NUM) ?? 0;
    else if (attributes.type === CTA.STATUS) isReplied = (attributes.number() & STATUS_SEEN_REPLY) !== 0;
    else if (attributes.type === CTA.PROTOINFO) {
      // The state is the first attribute of both.
      const tcp = valueIn(attributes.nested(), PROTOINFO.TCP, 1);
      const sctp = valueIn(attributes.nested(), PROTOINFO.SCTP, 1);
      state =
        (tcp !== undefined ? TCP_STATES[tcp] : undefined) ??
        (sctp !== undefined ? SCTP_STATES[sctp] : undefined);
    }
  }
  return {
    protocol: protocolOfNumber(number) ?? (number === 1 ? 'ICMP' : number === 58 ? 'ICMPv6' : String(number)),
    state: state ?? (isReplied ? 'REPLIED' : 'UNREPLIED'),
  };
}

/** A number that is an attribute inside another one. */
function valueIn(outer: AttributeReader, nest: number, type: number): number | undefined {
  while (outer.next())
    if (outer.type === nest) {
      const inner = outer.nested();
      while (inner.next()) if (inner.type === type) return inner.number();
    }
  return undefined;
}
