import { passes } from './netlink/socket-filter.js';
import { EAGAIN, EMSGSIZE, ENOBUFS } from './netlink/numbers.js';
import type { KernelProcess } from './kernel-process.js';
import type { KernelSocket, NetlinkProtocol } from './netlink-protocol.js';

const MSG_TRUNC = 0x20;
/** Of `net.core.rmem_default` and `wmem_default`. */
const DEFAULT_BUFFER = 212_992;
/** The part of the send buffer that a message cannot use. */
const SEND_OVERHEAD = 32;
/** What the kernel charges for a datagram beside its bytes, and at the least (measured on Linux 6.18). */
const OVERHEAD = 576;
const LEAST_CHARGE = 832;
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
  isOpen = true;
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
    if (!this.isCongested) this.error = ENOBUFS;
    this.isCongested = true;
  }

  /** The number of bytes sent, or an errno as a negative number. */
  send(bytes: Buffer): number {
    if (bytes.length > this.sendBuffer - SEND_OVERHEAD) return -EMSGSIZE;
    const errno = this.protocol.handle(this, bytes);
    return errno === 0 ? bytes.length : -errno;
  }

  /** The number of bytes received, or an errno as a negative number. */
  receive(into: Buffer, flags: number): number {
    const { error } = this;
    this.longestRead = Math.max(this.longestRead, into.length);
    this.error = 0;
    const datagram = error === 0 ? this.queue.shift() : undefined;
    if (this.queue.length === 0) this.isCongested = false;
    if (error !== 0) return -error;
    if (!datagram) return -EAGAIN;
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
