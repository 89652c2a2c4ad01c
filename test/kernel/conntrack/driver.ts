import { NetlinkFlowEvents } from '../../../src/adapters/conntrack/netlink-flow-events.js';
import { NetlinkConntrack } from '../../../src/adapters/conntrack/netlink-conntrack.js';
import { MessageWriter } from '../../../src/adapters/netlink/message-writer.js';
import { NetlinkSocket } from '../../../src/adapters/netlink/netlink-socket.js';
import { NETLINK_NETFILTER } from '../../../src/adapters/netlink/protocol.js';
import type { FlowPlace } from '../../../src/domain/conntrack/frontend-map.js';
import type { WatchedProtocol } from '../../../src/application/ports/node/conntrack.js';
import type { ConnectionActivity, SeenFlow } from '../../../src/domain/conntrack/flow.js';
import type { FlowQuery } from '../../../src/domain/conntrack/desired-flows.js';
import type { IpFamily } from '../../../src/domain/net/ip-family.js';
import { serve } from '../../support/program/driver.js';
import { putEntry, putRemoval, type EntryToMake } from '../../support/traffic/conntrack-entries.js';

/** Makes tracked connections out of nothing and drives the adapter, inside a namespace. */

export type HeardFlow = Omit<SeenFlow, 'hash' | 'client' | 'bytes'>;

export interface Heard {
  readonly lost: boolean;
  readonly told: { readonly [What in 'began' | 'changed' | 'ceased']: HeardFlow[] };
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

export interface Looking {
  readonly examined: number;
  readonly found: number;
  /** What each told of the first three. */
  readonly looks: readonly (readonly ConnectionActivity[])[];
  /** By the last one. */
  readonly deleted: number;
  /** Of each look. */
  readonly costs: readonly LookCost[];
}

interface LookCost {
  readonly ms: number;
  readonly longestTurnMs: number;
}

/** Entries in one request. */
const AT_ONCE = 256;

const conntrack = new NetlinkConntrack();
const events = new NetlinkFlowEvents({ throughIpvs: false });
const socket = NetlinkSocket.open(NETLINK_NETFILTER);
const never = new AbortController().signal;

function valueOf(flow: SeenFlow): HeardFlow {
  const { id, family, protocol, destination, destinationPort, replySource, replied, closed } = flow;
  return { id, family, protocol, destination, destinationPort, replySource, replied, closed };
}

/** Tells how long each turn of the event loop took, until stopped. */
function turns(tell: (milliseconds: number) => void): () => void {
  let isStopped = false;
  let last = performance.now();
  const turn = (): void => {
    const now = performance.now();
    tell(now - last);
    last = now;
    if (!isStopped) setImmediate(turn);
  };
  setImmediate(turn);
  return () => (isStopped = true);
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
      { protocol: 'UDP', unreplied: false },
      () => {
        const writer = new MessageWriter();
        putRemoval(writer, entry);
        putEntry(writer, successor);
        // Small requests are carried out before the call returns.
        void socket.send(writer.bytes, writer.length);
        return true;
      },
      never,
    );
    return deleted;
  },

  async remove(entries: readonly EntryToMake[]): Promise<void> {
    const writer = new MessageWriter();
    for (const entry of entries) putRemoval(writer, entry);
    await send(writer);
  },

  /** From now on the kernel tells what happens to connections of this sample. */
  hear(shift: number): void {
    events.sample(shift);
    events.open();
  },

  /** What it told since then, or since the last time. */
  heard(): Heard {
    const told: Heard['told'] = { began: [], changed: [], ceased: [] };
    const keep = (what: keyof Heard['told']) => (flow: SeenFlow) => void told[what].push(valueOf(flow));
    const { lost } = events.read({ began: keep('began'), changed: keep('changed'), ceased: keep('ceased') });
    return { lost, told };
  },

  /** What a walk finds. */
  async walk(): Promise<readonly HeardFlow[]> {
    const found: HeardFlow[] = [];
    await events.walk(
      (flow) => found.push(valueOf(flow)),
      async () => {},
      never,
    );
    return found;
  },

  /** Finds connections to endpoints, looks at them so many times, and removes them at the last look. */
  async lookAt(
    family: IpFamily,
    endpoints: readonly FlowPlace[],
    times: number,
    protocol: WatchedProtocol = 'TCP',
  ): Promise<Looking> {
    const { found, examined } = await conntrack.find(family, protocol, endpoints, () => true, never);
    const looks: ConnectionActivity[][] = [];
    const costs: LookCost[] = [];
    let deleted = 0;
    for (let time = 1; time <= times; time++) {
      const seen: ConnectionActivity[] = [];
      const isDead = (_: unknown, look: ConnectionActivity | undefined): boolean => {
        if (look && seen.length < 3)
          seen.push({ sent: look.sent, answered: look.answered, unacknowledged: look.unacknowledged });
        return time === times;
      };
      let longestTurnMs = 0;
      const stop = turns((turnMs) => (longestTurnMs = Math.max(longestTurnMs, turnMs)));
      const start = performance.now();
      ({ deleted } = await conntrack.poll(family, found, isDead, never));
      costs.push({ ms: Math.round(performance.now() - start), longestTurnMs: Math.round(longestTurnMs) });
      stop();
      looks.push(seen);
    }
    return { examined, found: found.length, looks, deleted, costs };
  },

  /** Sweeps, with every flow stale whose replySource is in the list. */
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
      (flow) => set.has(flow.replySource),
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

await serve(handlers);
