import { NetlinkNftTransport } from '../../../src/adapters/nftables/netlink/netlink-transport.js';
import { NetlinkSocket, type NetlinkSocketOptions } from '../../../src/adapters/netlink/netlink-socket.js';
import { NETLINK_NETFILTER } from '../../../src/adapters/netlink/protocol.js';
import { Netfilter, SUBSYSTEM } from '../../simulation/kernel/netfilter.js';
import { Sockets } from '../../simulation/kernel/sockets.js';
import { NfTables } from '../../simulation/kernel/nf-tables/nf-tables.js';

/** nf_tables of the simulated kernel, and the program's way to it. */
export class TransportUnderTest {
  readonly kernel: NfTables;
  readonly sockets: Sockets;
  /** The error of every `send`; 0 for none. */
  brokenBy = 0;
  /** The time, in milliseconds. */
  now = 0;
  readonly process = 42;
  private isAlive = true;

  constructor({ release = '6.18' }: { readonly release?: string } = {}) {
    const subsystems = new Map<number, NfTables>();
    const protocols = new Map([[NETLINK_NETFILTER, new Netfilter(subsystems)]]);
    this.sockets = new Sockets({
      protocols,
      beforeCall: (_, call) => (call === 'send' ? this.brokenBy : 0),
    });
    const multicast = this.sockets.multicastOf(NETLINK_NETFILTER);
    this.kernel = new NfTables({ now: () => this.now, release, multicast });
    subsystems.set(SUBSYSTEM.NFTABLES, this.kernel);
  }

  open(): NetlinkNftTransport {
    return NetlinkNftTransport.open(() => this.openSocket());
  }

  openSocket(options: NetlinkSocketOptions = {}): NetlinkSocket {
    const libc = this.sockets.libraryOf({
      pid: this.process,
      isAlive: () => this.isAlive,
      soon: (run) => void setImmediate(run),
      raise: () => undefined,
      exit: () => this.kill(),
    });
    return NetlinkSocket.open(NETLINK_NETFILTER, { ...options, libc });
  }

  kill(): void {
    this.isAlive = false;
    this.sockets.end(this.process);
  }
}
