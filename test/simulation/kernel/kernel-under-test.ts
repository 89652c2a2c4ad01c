import { NetlinkSocket, type NetlinkSocketOptions } from '../../../src/adapters/netlink/netlink-socket.js';
import type { KernelTime } from './change.js';
import type { NetlinkProtocol } from './netlink/requests.js';
import { Sockets } from './sockets.js';

/** A time that is set by hand. What is planned happens when it comes. */
export class HandTime implements KernelTime {
  now = Date.UTC(2026, 0, 1);
  private readonly planned: { readonly at: number; readonly run: () => void }[] = [];

  after(milliseconds: number, run: () => void): void {
    this.planned.push({ at: this.now + milliseconds, run });
    this.planned.sort((one, other) => one.at - other.at);
  }

  pass(milliseconds: number): void {
    const end = this.now + milliseconds;
    while (this.planned.length > 0 && this.planned[0]!.at <= end) {
      const { at, run } = this.planned.shift()!;
      this.now = at;
      run();
    }
    this.now = end;
  }
}

/** Sockets of the program on protocols of the simulated kernel. */
export class KernelUnderTest {
  readonly protocols = new Map<number, NetlinkProtocol>();
  readonly sockets = new Sockets({ protocols: this.protocols });
  /** The number of the process whose sockets they are. */
  readonly process = 4711;
  private readonly libc = this.sockets.libraryOf({
    pid: this.process,
    isAlive: () => true,
    soon: (run) => run(),
    raise: () => {},
    exit: () => {},
  });

  open(protocol: number, options: NetlinkSocketOptions = {}): NetlinkSocket {
    return NetlinkSocket.open(protocol, { ...options, libc: this.libc });
  }
}
