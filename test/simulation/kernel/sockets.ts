import type { CLibrary } from '../../../src/adapters/process/c-library.js';
import type { BeforeCall, FileLocks, KernelProcess, OtherSockets } from './kernel-process.js';
import type { Multicast, NetlinkProtocol } from './netlink-protocol.js';
import { EAFNOSUPPORT, EPROTONOSUPPORT } from './netlink/numbers.js';
import { OpenSocket } from './open-socket.js';
import { ProcessLibrary } from './process-library.js';

const AF_UNIX = 1;
const AF_INET = 2;
const AF_INET6 = 10;
const AF_NETLINK = 16;

/** A socket of a family that keeps nothing. */
export interface OtherSocket {
  readonly domain: number;
}

export interface SocketsOptions {
  /** By their numbers (NETLINK_…). */
  readonly protocols: ReadonlyMap<number, NetlinkProtocol>;
  readonly beforeCall?: BeforeCall;
  readonly files?: FileLocks;
  readonly others?: OtherSockets;
}

/** The sockets of all processes of the simulated machine. They go when their process ends. */
export class Sockets {
  private readonly open = new Map<number, Map<number, OpenSocket | OtherSocket>>();
  private readonly ended = new Set<number>();
  private nextDescriptor = 20;
  /** The kernel's addresses for sockets whose process has one already. */
  private nextPort = 0xffff_efff;

  constructor(readonly options: SocketsOptions) {}

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
      const bit = 1 << (group - 1);
      for (const socket of this.netlinkSockets(protocolNumber))
        if ((socket.groups & bit) !== 0) socket.deliver(Buffer.from(datagram));
    };
  }

  /** All that hear any group of a protocol lose what they are told until they have read what came before. */
  loseNotifications(protocolNumber: number): void {
    for (const socket of this.netlinkSockets(protocolNumber)) if (socket.groups !== 0) socket.lose();
  }

  /** Whether anybody hears a group. */
  hasListeners(protocolNumber: number, group: number): boolean {
    const bit = 1 << (group - 1);
    for (const socket of this.netlinkSockets(protocolNumber)) if ((socket.groups & bit) !== 0) return true;
    return false;
  }

  /** A new descriptor, or an errno as a negative number. */
  create(process: KernelProcess, domain: number, protocolNumber: number): number {
    let socket: OpenSocket | OtherSocket;
    if (domain === AF_NETLINK) {
      const protocol = this.options.protocols.get(protocolNumber);
      if (!protocol) return -EPROTONOSUPPORT;
      socket = new OpenSocket(process, protocolNumber, protocol);
    } else if (domain === AF_UNIX || domain === AF_INET || domain === AF_INET6) socket = { domain };
    else return -EAFNOSUPPORT;
    const mine = this.open.get(process.pid) ?? new Map<number, OpenSocket | OtherSocket>();
    this.open.set(process.pid, mine);
    const descriptor = this.nextDescriptor++;
    mine.set(descriptor, socket);
    return descriptor;
  }

  find(pid: number, descriptor: number): OpenSocket | OtherSocket | undefined {
    return this.open.get(pid)?.get(descriptor);
  }

  /** Gives a socket its address: the number of its process, if no other socket of the protocol has it. */
  bind(socket: OpenSocket, groups: number): void {
    socket.groups = groups;
    if (socket.port !== 0) return;
    const isFree = (port: number): boolean =>
      [...this.netlinkSockets(socket.protocolNumber)].every((other) => other.port !== port);
    socket.port = isFree(socket.process) ? socket.process : this.nextPort--;
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
