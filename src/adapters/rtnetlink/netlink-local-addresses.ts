import type { Clock, Timer } from '../../application/ports/clock.js';
import type { LocalAddresses } from '../../application/ports/local-addresses.js';
import type { Logger } from '../../application/ports/logger.js';
import { parseAddress } from '../../domain/net/address.js';
import { isOwnAddress } from '../../domain/node/own-address.js';
import type { NetlinkMessage } from '../netlink/message-reader.js';
import { NetlinkSocket } from '../netlink/netlink-socket.js';
import { NETLINK_ROUTE } from '../netlink/protocol.js';
import { deviceOf, readAddress, readAddressesNow } from './addresses.js';
import { findLinkNow, readLink } from './links.js';
import {
  RTM_DELADDR,
  RTM_NEWADDR,
  RTM_NEWLINK,
  RTMGRP_IPV4_IFADDR,
  RTMGRP_IPV6_IFADDR,
  RTMGRP_LINK,
} from './rtnetlink.js';

const GROUPS = RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR;
/** Room for the notices of some thousand addresses of services, which come here too. */
const WATCH_BUFFER = 8 * 1024 * 1024;
/** How often it is looked whether addresses came or went, in milliseconds. */
const LOOK_PERIOD = 100;
/** How often all are read anew, whatever notices came, in milliseconds. */
const READ_PERIOD = 30_000;

/**
 * The addresses of this network namespace over rtnetlink: of all interfaces but one, up or down, with a carrier or
 * without, as the kernel lists them. That one is told by its name and may come and go.
 *
 * They are read at first, kept up by the kernel's notices, and read again when some were lost, and from time to time; so to
 * list them costs one system call while nothing happens. Who follows is told within a tenth of a second, but not of
 * loopback and link-local IPv6 addresses: those come and go with every pod.
 */
export class NetlinkLocalAddresses implements LocalAddresses {
  private readonly watch: NetlinkSocket;
  private readonly known = new Map<string, string>();
  private listed: readonly string[] = [];
  /** Those that are followed, as text: present, and when they were last told. */
  private own = '';
  private told: string | undefined;
  private exceptIndex: number | undefined;
  /** Undefined: they must be read. */
  private readAt: number | undefined;
  private failing = false;
  private timer: Timer | undefined;
  private closed = false;

  /** Watches from now on. Throws a NetlinkError when there is no netlink. */
  constructor(
    private readonly exceptDevice: string,
    private readonly clock: Clock,
    private readonly logger: Logger,
    private readonly openSocket = (groups: number) =>
      NetlinkSocket.open(NETLINK_ROUTE, groups === 0 ? {} : { groups, receiveBuffer: WATCH_BUFFER }),
  ) {
    this.watch = openSocket(GROUPS);
  }

  /** Throws a NetlinkError when they cannot be read the first time; later they are those that were known last. */
  list(): readonly string[] {
    const problem = this.catchUp();
    if (problem !== undefined && this.told === undefined) throw problem;
    return this.listed;
  }

  follow(onChange: () => void): void {
    if (this.closed) return;
    this.timer = this.clock.after(LOOK_PERIOD, () => {
      this.catchUp();
      const news = this.told !== undefined && this.told !== this.own;
      if (news) this.told = this.own;
      this.follow(onChange);
      if (news) onChange();
    });
  }

  close(): void {
    this.closed = true;
    this.timer?.cancel();
    this.watch.close();
  }

  /** Takes notice of what happened; why it could not. */
  private catchUp(): unknown {
    if (this.closed) return undefined;
    try {
      let changed = false;
      const lost = this.watch.collectMessages((message) => (changed = this.take(message) || changed));
      if (lost || this.readAt === undefined || this.clock.now() - this.readAt >= READ_PERIOD) this.readAll();
      else if (changed) this.arrange();
      this.failing = false;
      return undefined;
    } catch (error) {
      this.readAt = undefined;
      if (!this.failing)
        this.logger.error({ error }, 'addresses of this node cannot be read; will try again');
      this.failing = true;
      return error;
    }
  }

  /** Whether a notice changed what is known. */
  private take(message: NetlinkMessage): boolean {
    if (message.type === RTM_NEWLINK) {
      const { name, index } = readLink(message);
      if (name === this.exceptDevice) this.exceptIndex = index;
      return false;
    }
    if (message.type !== RTM_NEWADDR && message.type !== RTM_DELADDR) return false;
    if (deviceOf(message) === this.exceptIndex) return false;
    const notice = readAddress(message);
    if (!notice) return false;
    const { key, address } = notice;
    if (message.type === RTM_DELADDR) return this.known.delete(key);
    if (this.known.has(key)) return false;
    this.known.set(key, address);
    return true;
  }

  private readAll(): void {
    const socket = this.openSocket(0);
    try {
      this.exceptIndex = findLinkNow(socket, this.exceptDevice)?.index;
      const present = readAddressesNow(socket, this.exceptIndex);
      this.known.clear();
      for (const { key, address } of present) this.known.set(key, address);
    } finally {
      socket.close();
    }
    this.readAt = this.clock.now();
    this.arrange();
    this.told ??= this.own;
  }

  private arrange(): void {
    this.listed = [...new Set(this.known.values())].sort();
    this.own = this.listed.filter((text) => isOwnAddress(parseAddress(text)!)).join();
  }
}
