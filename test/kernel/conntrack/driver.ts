import ipaddr from 'ipaddr.js';
import {
  CT_DELETE,
  CTA,
  familyWord,
  TUPLE,
  TUPLE_IP,
  TUPLE_PROTO,
} from '../../../src/adapters/conntrack/ctnetlink.js';
import { NetlinkConntrack } from '../../../src/adapters/conntrack/netlink-conntrack.js';
import { MessageWriter } from '../../../src/adapters/netlink/message-writer.js';
import { NetlinkSocket } from '../../../src/adapters/netlink/netlink-socket.js';
import { NETLINK_NETFILTER, NLM_F_CREATE, NLM_F_REQUEST } from '../../../src/adapters/netlink/protocol.js';
import type { FlowQuery } from '../../../src/domain/conntrack/doubts.js';
import type { IpFamily } from '../../../src/domain/net/ip-family.js';
import { serve } from '../../support/program/driver.js';

/** Makes tracked connections out of nothing and drives the adapter, inside a namespace. */

export interface EntryToMake {
  readonly protocol: 6 | 17;
  readonly source: string;
  readonly sourcePort: number;
  readonly destination: string;
  readonly destinationPort: number;
  readonly endpoint: string;
  readonly endpointPort: number;
  readonly zone?: number;
}

export interface Sweeping {
  readonly examined: number;
  readonly deleted: number;
  readonly problem?: string;
  readonly ms: number;
  /** The longest time for which others were kept from their turn. */
  readonly longestPauseMs: number;
  readonly rssMb: number;
  readonly grownMb: number;
}

const CT_NEW = 0x100;
const CTA_STATUS = 3;
const CTA_PROTOINFO = 4;
const CTA_TIMEOUT = 7;
const IPS_CONFIRMED_ASSURED_SEEN_REPLY = 0x2 | 0x4 | 0x8;

/** Entries in one request. */
const AT_ONCE = 256;

const conntrack = new NetlinkConntrack();
const socket = NetlinkSocket.open(NETLINK_NETFILTER);
const never = new AbortController().signal;

function putTuple(
  writer: MessageWriter,
  type: number,
  protocol: number,
  [source, sourcePort]: [string, number],
  [destination, destinationPort]: [string, number],
): void {
  const ipv6 = source.includes(':');
  const tuple = writer.beginNest(type);
  const ip = writer.beginNest(TUPLE.IP);
  const bytes = (text: string) => Uint8Array.from(ipaddr.parse(text).toByteArray());
  writer.putBytes(ipv6 ? TUPLE_IP.V6_SRC : TUPLE_IP.V4_SRC, bytes(source));
  writer.putBytes(ipv6 ? TUPLE_IP.V6_DST : TUPLE_IP.V4_DST, bytes(destination));
  writer.endNest(ip);
  const proto = writer.beginNest(TUPLE.PROTO);
  writer.putU8(TUPLE_PROTO.NUM, protocol);
  writer.putBytes(TUPLE_PROTO.SRC_PORT, Uint8Array.of(sourcePort >>> 8, sourcePort & 0xff));
  writer.putBytes(TUPLE_PROTO.DST_PORT, Uint8Array.of(destinationPort >>> 8, destinationPort & 0xff));
  writer.endNest(proto);
  writer.endNest(tuple);
}

function putEntry(writer: MessageWriter, entry: EntryToMake): void {
  const family: IpFamily = entry.source.includes(':') ? 'IPv6' : 'IPv4';
  const start = writer.beginMessage(CT_NEW, NLM_F_REQUEST | NLM_F_CREATE, 1);
  writer.putWord(familyWord(family));
  const client: [string, number] = [entry.source, entry.sourcePort];
  putTuple(writer, CTA.TUPLE_ORIG, entry.protocol, client, [entry.destination, entry.destinationPort]);
  putTuple(writer, CTA.TUPLE_REPLY, entry.protocol, [entry.endpoint, entry.endpointPort], client);
  writer.putU32(CTA_STATUS, IPS_CONFIRMED_ASSURED_SEEN_REPLY);
  writer.putU32(CTA_TIMEOUT, 3600);
  if (entry.protocol === 6) {
    const info = writer.beginNest(CTA_PROTOINFO);
    const tcp = writer.beginNest(1);
    writer.putU8(1, 3);
    writer.endNest(tcp);
    writer.endNest(info);
  }
  if (entry.zone !== undefined) writer.putBytes(CTA.ZONE, Uint8Array.of(entry.zone >>> 8, entry.zone & 0xff));
  writer.endMessage(start);
}

function placesOf(bytes: Buffer, part: Buffer): number[] {
  const places: number[] = [];
  for (let at = bytes.indexOf(part); at >= 0; at = bytes.indexOf(part, at + 1)) places.push(at);
  if (places.length !== 2) throw new Error(`${places.length} places for ${part.toString('hex')}`);
  return places;
}

async function send(writer: MessageWriter): Promise<void> {
  await socket.send(writer.bytes, writer.length);
  writer.length = 0;
  const refused = socket.collectReplies().replies.find(({ errno }) => errno !== 0);
  if (refused) throw new Error(`an entry was refused: ${JSON.stringify(refused)}`);
}

const handlers = {
  async make(entries: readonly EntryToMake[]) {
    const writer = new MessageWriter();
    for (const entry of entries) putEntry(writer, entry);
    await send(writer);
  },

  /** So many IPv4 entries to one destination, each from a client of its own, counted from `first` on. */
  async makeMany(count: number, entry: EntryToMake, first = 0) {
    const one = new MessageWriter();
    putEntry(one, { ...entry, source: '255.254.253.252', sourcePort: 0xfafb });
    const message = one.bytes.subarray(0, one.length);
    const addresses = placesOf(message, Buffer.of(255, 254, 253, 252));
    const ports = placesOf(message, Buffer.of(0xfa, 0xfb));
    const writer = new MessageWriter(AT_ONCE * message.length);
    for (let i = first; i < first + count; i++) {
      writer.reserve(message.length);
      message.copy(writer.bytes, writer.length);
      // 100.64.0.0/10 has room for sixteen ports each of four million clients.
      for (const place of addresses)
        writer.bytes.writeUInt32BE(0x64400000 + (i >>> 4), writer.length + place);
      for (const place of ports) writer.bytes.writeUInt16BE(20_000 + (i & 0xf), writer.length + place);
      writer.length += message.length;
      if (writer.length >= AT_ONCE * message.length) await send(writer);
    }
    if (writer.length > 0) await send(writer);
  },

  /** Sweeps everything away, but begins the flow anew between the look at it and its removal. */
  async sweepWhileReplaced(entry: EntryToMake, successor: EntryToMake): Promise<number> {
    const { deleted } = await conntrack.sweep(
      'IPv4',
      {},
      () => {
        const writer = new MessageWriter();
        const start = writer.beginMessage(CT_DELETE, NLM_F_REQUEST, 1);
        writer.putWord(familyWord('IPv4'));
        putTuple(
          writer,
          CTA.TUPLE_ORIG,
          entry.protocol,
          [entry.source, entry.sourcePort],
          [entry.destination, entry.destinationPort],
        );
        writer.endMessage(start);
        putEntry(writer, successor);
        // Small requests are carried out before the call returns.
        void socket.send(writer.bytes, writer.length);
        return true;
      },
      never,
    );
    return deleted;
  },

  /** Sweeps, with every flow stale whose answerer is in the list. */
  async sweep(family: IpFamily, query: FlowQuery, stale: readonly string[]): Promise<Sweeping> {
    const before = process.memoryUsage.rss();
    let longestPauseMs = 0;
    let peak = before;
    let last = performance.now();
    const heart = setInterval(() => {
      const now = performance.now();
      longestPauseMs = Math.max(longestPauseMs, now - last);
      last = now;
      peak = Math.max(peak, process.memoryUsage.rss());
    }, 1);
    const start = performance.now();
    const set = new Set(stale);
    const { examined, deleted, problem } = await conntrack.sweep(
      family,
      query,
      (flow) => set.has(flow.answerer),
      never,
    );
    const ms = performance.now() - start;
    clearInterval(heart);
    return {
      examined,
      deleted,
      ...(problem && { problem: problem.message }),
      ms: Math.round(ms),
      longestPauseMs: Math.round(longestPauseMs),
      rssMb: Math.round(peak / 2 ** 20),
      grownMb: Math.round((peak - before) / 2 ** 20),
    };
  },
};

export type ConntrackDriver = typeof handlers;

serve(handlers);
