import { NO_PROCESS, type Change, type KernelTime } from '../change.js';
import { familyOf } from '../netlink/addresses.js';
import { AF, E } from '../netlink/numbers.js';
import {
  IPPROTO,
  SCTP,
  STATUS,
  TCP,
  TCP_FLAG,
  type Connection,
  type Happening,
  type Tuple,
} from './ctnetlink.js';

/** How the table keeps a connection. */
type Entry = { -readonly [Key in keyof Connection]: Connection[Key] } & {
  readonly [Direction in 'sent' | 'answered']: { packets: number; bytes: number };
};

/** Where packets are led to. */
export interface Target {
  readonly address: string;
  readonly port: number;
}

/** What else may be said of a connection that begins. */
interface Opening {
  readonly zone?: number;
  /** Bytes of its first packet. */
  readonly bytes?: number;
  /** The address that its packets leave with, if they are masqueraded. */
  readonly masqueradedAs?: string;
}

/** How often the table is searched for connections that are over, at most. Milliseconds. */
const COLLECTION = 10_000;

/** The settings below /proc/sys/net/netfilter, as the kernel has them after booting; timeouts in seconds. */
const SYSCTLS: Readonly<Record<string, number>> = {
  nf_conntrack_max: 262_144,
  nf_conntrack_buckets: 65_536,
  nf_conntrack_acct: 0,
  nf_conntrack_events: 2,
  nf_conntrack_timestamp: 0,
  nf_conntrack_tcp_be_liberal: 0,
  nf_conntrack_tcp_timeout_syn_sent: 120,
  nf_conntrack_tcp_timeout_syn_recv: 60,
  nf_conntrack_tcp_timeout_established: 432_000,
  nf_conntrack_tcp_timeout_close_wait: 60,
  nf_conntrack_tcp_timeout_time_wait: 120,
  nf_conntrack_sctp_timeout_cookie_wait: 3,
  nf_conntrack_sctp_timeout_established: 210,
  nf_conntrack_udp_timeout: 30,
  nf_conntrack_udp_timeout_stream: 120,
};
const TCP_TIMEOUTS: Readonly<Record<number, string>> = {
  [TCP.SYN_SENT]: 'syn_sent',
  [TCP.SYN_RECV]: 'syn_recv',
  [TCP.ESTABLISHED]: 'established',
  [TCP.TIME_WAIT]: 'time_wait',
};

/** The table of tracked connections of a machine. */
export class Connections {
  /** Changed by whoever writes below /proc/sys/net/netfilter. */
  readonly sysctls = new Map(Object.entries(SYSCTLS));
  /** Told after connections were removed or made by a request, not of what packets and time do. */
  onChange: (change: Change) => void = () => {};
  /** Told of each connection that a request removes. */
  onRemove: (connection: Connection, process: number) => void = () => {};
  /** Told everything. */
  onEvent: (happening: Happening, connection: Connection) => void = () => {};
  /** Packets for which the table had no room. */
  dropped = 0;
  private readonly entries = new Set<Entry>();
  private readonly byTuple = new Map<string, Entry>();
  /** When the table is searched for those that are over. */
  private collectAt = Infinity;

  constructor(private readonly time: KernelTime) {}

  /** nf_conntrack_count */
  get count(): number {
    return this.entries.size;
  }

  /** Those that are not over, in the order in which they began. */
  *list(): Generator<Connection> {
    const { now } = this.time;
    for (const entry of this.entries) if (entry.expiresAt > now) yield entry;
  }

  /** The connection with this tuple in one of its directions. */
  find(tuple: Tuple, zone = 0): Connection | undefined {
    const entry = this.byTuple.get(tupleKey(tuple, zone));
    if (!entry || entry.expiresAt > this.time.now) return entry;
    this.drop(entry);
    return undefined;
  }

  /**
   * A client's packet: of the connection that is tracked, wherever that leads, or of one that begins.
   * @param ledTo where the rules lead it, asked only when it begins: its destination if they say nothing, undefined if they drop it
   * @returns undefined when the packet is dropped, by the rules or because the table is full
   */
  open(
    tuple: Tuple,
    ledTo: (tuple: Tuple) => Target | undefined,
    { zone = 0, bytes = 60, masqueradedAs }: Opening = {},
  ): Connection | undefined {
    const found = this.find(tuple, zone);
    if (found) {
      // A new connection over one that has ended.
      if (found.state !== TCP.TIME_WAIT || found.original.protocol !== IPPROTO.TCP) {
        this.send(found, bytes);
        return found;
      }
      this.drop(found as Entry);
    }
    const target = ledTo(tuple);
    if (!target || !this.hasRoom()) return undefined;
    const reply = this.freeReply(tuple, target, masqueradedAs ?? tuple.source, zone);
    const entry: Entry = {
      ...{ original: tuple, reply, zone, id: idOf(tuple, zone) },
      ...{
        status: STATUS.CONFIRMED | natStatus(tuple, reply),
        state: firstState(tuple.protocol),
        expiresAt: 0,
      },
      ...{ sentFlags: 0, answeredFlags: 0, sent: { packets: 1, bytes }, answered: { packets: 0, bytes: 0 } },
    };
    this.refresh(entry);
    this.add(entry);
    return entry;
  }

  /** Another packet of the client: data, if the connection is one of TCP. */
  send(connection: Connection, bytes = 60): void {
    const entry = connection as Entry;
    entry.sent.packets++;
    entry.sent.bytes += bytes;
    if (entry.original.protocol === IPPROTO.TCP) {
      entry.sentFlags |= TCP_FLAG.MAXACK_SET | TCP_FLAG.DATA_UNACKNOWLEDGED;
      if (entry.state === TCP.SYN_RECV)
        this.change(entry, { state: TCP.ESTABLISHED, status: entry.status | STATUS.ASSURED });
    }
    this.refresh(entry);
  }

  /** A packet of the other end. */
  answer(connection: Connection, bytes = 60): void {
    const entry = connection as Entry;
    const { protocol } = entry.original;
    entry.answered.packets++;
    entry.answered.bytes += bytes;
    if (protocol === IPPROTO.TCP) {
      entry.answeredFlags |= TCP_FLAG.MAXACK_SET;
      entry.sentFlags &= ~TCP_FLAG.DATA_UNACKNOWLEDGED;
    }
    if ((entry.status & STATUS.SEEN_REPLY) === 0) {
      const state =
        protocol === IPPROTO.TCP ? TCP.SYN_RECV : protocol === IPPROTO.SCTP ? SCTP.ESTABLISHED : 0;
      this.change(entry, { state, status: entry.status | STATUS.SEEN_REPLY });
    } else if (protocol !== IPPROTO.TCP && (entry.status & STATUS.ASSURED) === 0)
      this.change(entry, { status: entry.status | STATUS.ASSURED });
    this.refresh(entry);
  }

  /** Both ends of a TCP connection have closed it. */
  close(connection: Connection): void {
    this.change(connection as Entry, { state: TCP.TIME_WAIT });
    this.refresh(connection as Entry);
  }

  /** Puts a connection into the table as it is. Returns an errno where there is no room, or another has one of its tuples. */
  insert(connection: Omit<Connection, 'id'>, process = NO_PROCESS): number {
    const { original, reply, zone } = connection;
    if (this.find(original, zone) ?? this.find(reply, zone)) return E.EEXIST;
    if (!this.hasRoom()) return E.ENOMEM;
    this.add({ ...connection, id: idOf(original, zone) });
    this.onChange({ process });
    return 0;
  }

  /** What a request changes of a connection. */
  update(
    connection: Connection,
    change: Partial<Pick<Connection, 'status' | 'state' | 'sentFlags' | 'answeredFlags' | 'expiresAt'>>,
    process = NO_PROCESS,
  ): void {
    this.change(connection as Entry, change);
    this.collectAfter(connection as Entry);
    this.onChange({ process });
  }

  remove(connection: Connection, process = NO_PROCESS): void {
    if (!this.drop(connection as Entry)) return;
    this.onRemove(connection, process);
    this.onChange({ process });
  }

  /** Removes all of a family, or of both (`conntrack -F`). */
  flush(family: number = AF.UNSPEC, process = NO_PROCESS): void {
    const doomed = [...this.entries].filter(
      ({ original }) => family === AF.UNSPEC || familyOf(original.source) === family,
    );
    for (const entry of doomed) {
      this.drop(entry);
      this.onRemove(entry, process);
    }
    if (doomed.length > 0) this.onChange({ process });
  }

  sysctl(name: string): number {
    return this.sysctls.get(name) ?? 0;
  }

  /** A full table gives up the oldest connection that is not assured, if there is one. */
  private hasRoom(): boolean {
    const { entries } = this;
    const most = this.sysctl('nf_conntrack_max');
    if (most === 0 || entries.size < most) return true;
    this.collect();
    const spared = [...entries].find(({ status }) => (status & STATUS.ASSURED) === 0);
    if (entries.size >= most && spared) this.drop(spared);
    if (entries.size < most) return true;
    this.dropped++;
    return false;
  }

  /** The reply tuple; if another connection has it, with another port of the client. */
  private freeReply(tuple: Tuple, target: Target, client: string, zone: number): Tuple {
    const { protocol, sourcePort: port } = tuple;
    let reply: Tuple = {
      ...{ protocol, source: target.address, sourcePort: target.port },
      ...{ destination: client, destinationPort: port },
    };
    while (this.find(reply, zone))
      reply = {
        ...reply,
        destinationPort: reply.destinationPort >= 65_535 ? 1024 : reply.destinationPort + 1,
      };
    return reply;
  }

  private add(entry: Entry): void {
    this.entries.add(entry);
    this.byTuple.set(tupleKey(entry.original, entry.zone), entry);
    this.byTuple.set(tupleKey(entry.reply, entry.zone), entry);
    this.onEvent('began', entry);
    this.collectAfter(entry);
  }

  private change(entry: Entry, change: Partial<Connection>): void {
    Object.assign(entry, change);
    this.onEvent('changed', entry);
  }

  private refresh(entry: Entry): void {
    entry.expiresAt = this.time.now + this.sysctl(timeoutName(entry)) * 1_000;
  }

  private drop(entry: Entry): boolean {
    if (!this.entries.delete(entry)) return false;
    for (const tuple of [entry.original, entry.reply]) this.byTuple.delete(tupleKey(tuple, entry.zone));
    entry.status |= STATUS.DYING;
    this.onEvent('ceased', entry);
    return true;
  }

  private collect(): void {
    const { now } = this.time;
    for (const entry of this.entries) if (entry.expiresAt <= now) this.drop(entry);
  }

  /** Searches the table when this connection can be over, unless that happens before. */
  private collectAfter({ expiresAt }: Entry): void {
    const { now } = this.time;
    const at = Math.max(now + COLLECTION, expiresAt);
    if (at >= this.collectAt) return;
    this.collectAt = at;
    this.time.after(at - now, () => {
      if (this.collectAt > this.time.now) return;
      this.collectAt = Infinity;
      this.collect();
      for (const entry of this.entries) this.collectAfter(entry);
    });
  }
}

/** The sysctl that says how long a connection lasts after its last packet. */
function timeoutName({ original: { protocol }, state, status }: Connection): string {
  if (protocol === IPPROTO.TCP) return `nf_conntrack_tcp_timeout_${TCP_TIMEOUTS[state] ?? 'close_wait'}`;
  if (protocol === IPPROTO.SCTP)
    return `nf_conntrack_sctp_timeout_${state === SCTP.COOKIE_WAIT ? 'cookie_wait' : 'established'}`;
  return (status & STATUS.ASSURED) === 0 ? 'nf_conntrack_udp_timeout' : 'nf_conntrack_udp_timeout_stream';
}

function firstState(protocol: number): number {
  if (protocol === IPPROTO.TCP) return TCP.SYN_SENT;
  return protocol === IPPROTO.SCTP ? SCTP.COOKIE_WAIT : 0;
}

function natStatus(tuple: Tuple, reply: Tuple): number {
  const isLed = reply.source !== tuple.destination || reply.sourcePort !== tuple.destinationPort;
  const isMasqueraded = reply.destination !== tuple.source || reply.destinationPort !== tuple.sourcePort;
  const done = STATUS.SRC_NAT_DONE | STATUS.DST_NAT_DONE;
  return done | (isLed ? STATUS.DST_NAT : 0) | (isMasqueraded ? STATUS.SRC_NAT : 0);
}

/** What tells tuples apart. */
function tupleKey(tuple: Tuple, zone: number): string {
  const { protocol, source, sourcePort, destination, destinationPort } = tuple;
  return `${zone} ${protocol} ${source} ${sourcePort} ${destination} ${destinationPort}`;
}

/** FNV-1a */
function idOf(tuple: Tuple, zone: number): number {
  let hash = 0x811c9dc5;
  const key = tupleKey(tuple, zone);
  for (let at = 0; at < key.length; at++) hash = Math.imul(hash ^ key.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}
