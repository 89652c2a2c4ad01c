import type { CLibrary } from '../../../src/adapters/process/c-library.js';
import { E } from './netlink/numbers.js';
import type { KernelSocket, Multicast, NetlinkProtocol } from './netlink/requests.js';
import { passes } from './netlink/socket-filter.js';
import { ProcessLibrary, type KernelProcess, type LibraryOptions } from './process-library.js';

const AF_NETLINK = 16;
/** AF_UNIX, AF_INET and AF_INET6. */
const OTHER_DOMAINS = [1, 2, 10];
const MSG_TRUNC = 0x20;
/** Of `net.core.rmem_default` and `wmem_default`. */
const DEFAULT_BUFFER = 212_992;
/** The part of the send buffer that a message cannot use. */
const SEND_OVERHEAD = 32;
/** What the kernel charges for a datagram beside its bytes, and at the least (measured on Linux 6.18). */
const [OVERHEAD, LEAST_CHARGE] = [576, 832];
/** What the kernel fills of a page, or of eight, into one datagram of a dump. */
const [LEAST_ROOM, MOST_ROOM] = [3_776, 32_448];

/** A netlink socket that is open: what it has received and not yet read, and how much room there is for more. */
export class OpenSocket implements KernelSocket {
  groups = 0;
  port = 0;
  receiveBuffer = DEFAULT_BUFFER;
  sendBuffer = DEFAULT_BUFFER;
  filter: Buffer | undefined;
  /** The signal that announces arrivals, if they are to be announced. */
  announcedBy: string | undefined;
  private isOpen = true;
  private readonly queue: Buffer[] = [];
  private charged = 0;
  private error = 0;
  /** Once something did not fit, nothing does until everything has been read. */
  private isCongested = false;
  private dump: Iterator<Buffer> | undefined;
  private isAnnouncing = false;
  private longestRead = 0;

  constructor(
    private readonly owner: KernelProcess,
    readonly protocolNumber: number,
    private readonly protocol: NetlinkProtocol,
  ) {}

  get process(): number {
    return this.owner.pid;
  }

  get room(): number {
    return Math.max(LEAST_ROOM, Math.min(this.longestRead, MOST_ROOM));
  }

  get isDumping(): boolean {
    return this.dump !== undefined;
  }

  deliver(datagram: Buffer): void {
    if (!this.isOpen || (this.filter && !passes(this.filter, datagram))) return;
    if (this.isCongested || this.charged > this.receiveBuffer) return this.lose();
    this.queue.push(datagram);
    this.charged += chargeOf(datagram);
    this.announce();
  }

  deliverLater(datagrams: Iterator<Buffer>): void {
    this.dump = datagrams;
    if (this.queue.length === 0) this.makeNext();
  }

  lose(): void {
    if (!this.isCongested) this.error = E.ENOBUFS;
    this.isCongested = true;
  }

  /** The number of bytes sent, or an errno as a negative number. */
  send(bytes: Buffer): number {
    if (bytes.length > this.sendBuffer - SEND_OVERHEAD) return -E.EMSGSIZE;
    this.protocol.handle(this, bytes);
    return bytes.length;
  }

  /** The number of bytes received, or an errno as a negative number. */
  receive(into: Buffer, flags: number): number {
    const { error } = this;
    this.longestRead = Math.max(this.longestRead, into.length);
    this.error = 0;
    const datagram = error === 0 ? this.queue.shift() : undefined;
    if (this.queue.length === 0) this.isCongested = false;
    if (error !== 0) return -error;
    if (!datagram) return -E.EAGAIN;
    this.charged -= chargeOf(datagram);
    if (this.charged <= this.receiveBuffer / 2) this.makeNext();
    const copied = datagram.copy(into);
    return (flags & MSG_TRUNC) === 0 ? copied : datagram.length;
  }

  close(): void {
    this.isOpen = false;
    this.queue.length = 0;
    this.dump = undefined;
    this.protocol.closed?.(this);
  }

  private makeNext(): void {
    const next = this.dump?.next();
    if (next?.done === true) this.dump = undefined;
    else if (next) this.deliver(next.value);
  }

  /** A signal that is still on its way stands for several arrivals. */
  private announce(): void {
    const signal = this.announcedBy;
    if (signal === undefined || this.isAnnouncing) return;
    this.isAnnouncing = true;
    this.owner.soon(() => {
      this.isAnnouncing = false;
      if (this.isOpen) this.owner.raise(signal);
    });
  }
}

function chargeOf(datagram: Buffer): number {
  return Math.max(LEAST_CHARGE, OVERHEAD + datagram.length);
}

/** A socket of a family that keeps nothing. */
interface OtherSocket {
  readonly domain: number;
}

/** The sockets of all processes of the simulated machine. They go when their process ends. */
export class Sockets {
  private readonly open = new Map<number, Map<number, OpenSocket | OtherSocket>>();
  private readonly ended = new Set<number>();
  private nextDescriptor = 20;
  /** The kernel's addresses for sockets whose process has one already. */
  private nextPort = 0xffff_efff;

  /** @param options the protocols by their numbers (NETLINK_…), and what else calls do */
  constructor(
    readonly options: LibraryOptions & { readonly protocols: ReadonlyMap<number, NetlinkProtocol> },
  ) {}

  /** The calls of a process. Once it has ended they have no effect and say EBADF; those in the background never come back. */
  libraryOf(process: KernelProcess): CLibrary {
    return new ProcessLibrary(process, this);
  }

  /** The process is gone: all its sockets are closed. Idempotent. */
  end(pid: number): void {
    this.ended.add(pid);
    for (const descriptor of [...(this.open.get(pid)?.keys() ?? [])]) this.close(pid, descriptor);
    this.open.delete(pid);
  }

  hasEnded(pid: number): boolean {
    return this.ended.has(pid);
  }

  /** How many sockets a process has open. */
  countOf(pid: number): number {
    return this.open.get(pid)?.size ?? 0;
  }

  /** What a protocol sends to all that hear a group of it. */
  multicastOf(protocolNumber: number): Multicast {
    return (group, datagram) => {
      for (const socket of this.netlinkSockets(protocolNumber))
        if ((socket.groups & (1 << (group - 1))) !== 0) socket.deliver(Buffer.from(datagram));
    };
  }

  /** All that hear any group of a protocol lose what they are told until they have read what came before. */
  loseNotifications(protocolNumber: number): void {
    for (const socket of this.netlinkSockets(protocolNumber)) if (socket.groups !== 0) socket.lose();
  }

  /** A new descriptor, or an errno as a negative number. */
  create(process: KernelProcess, domain: number, protocolNumber: number): number {
    const protocol = this.options.protocols.get(protocolNumber);
    if (domain === AF_NETLINK ? !protocol : !OTHER_DOMAINS.includes(domain))
      return domain === AF_NETLINK ? -E.EPROTONOSUPPORT : -E.EAFNOSUPPORT;
    const socket = domain === AF_NETLINK ? new OpenSocket(process, protocolNumber, protocol!) : { domain };
    const mine = this.open.get(process.pid) ?? new Map<number, OpenSocket | OtherSocket>();
    this.open.set(process.pid, mine);
    mine.set(this.nextDescriptor, socket);
    return this.nextDescriptor++;
  }

  find(pid: number, descriptor: number): OpenSocket | OtherSocket | undefined {
    return this.open.get(pid)?.get(descriptor);
  }

  /** Gives a socket its address: the number of its process, if no other socket of the protocol has it. */
  bind(socket: OpenSocket, groups: number): void {
    socket.groups = groups;
    if (socket.port !== 0) return;
    const others = [...this.netlinkSockets(socket.protocolNumber)];
    socket.port = others.some(({ port }) => port === socket.process) ? this.nextPort-- : socket.process;
  }

  /** Whether it was open. */
  close(pid: number, descriptor: number): boolean {
    const socket = this.find(pid, descriptor);
    this.open.get(pid)?.delete(descriptor);
    if (socket instanceof OpenSocket) socket.close();
    return socket !== undefined;
  }

  private *netlinkSockets(protocolNumber: number): Generator<OpenSocket> {
    for (const mine of this.open.values())
      for (const socket of mine.values())
        if (socket instanceof OpenSocket && socket.protocolNumber === protocolNumber) yield socket;
  }
}
