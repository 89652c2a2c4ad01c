import type { Clock, Timer } from '../../application/ports/clock.js';
import type { LocalAddresses } from '../../application/ports/node/network.js';
import type { Logger } from '../../application/ports/logger.js';
import { parseAddress } from '../../domain/net/address.js';
import { isOwnAddress } from '../../domain/node/node-addresses.js';
import type { NetlinkMessage } from '../netlink/message-reader.js';
import { NetlinkConversation } from '../netlink/netlink-channel.js';
import { NetlinkSocket } from '../netlink/netlink-socket.js';
import { NETLINK_ROUTE } from '../netlink/protocol.js';
import {
  deviceOf,
  readAddress,
  readAddressesNow,
  findLinkNow,
  readLink,
  RTM_DELADDR,
  RTM_NEWADDR,
  RTM_NEWLINK,
  RTMGRP_IPV4_IFADDR,
  RTMGRP_IPV6_IFADDR,
  RTMGRP_LINK,
} from './rtnetlink.js';
const GROUPS = RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR;
/** Room for notifications about thousands of addresses of Services, which arrive here too. Bytes. */
const WATCH_BUFFER = 8 * 1024 * 1024;
/** Notifications are read together, this long after the first: they come in groups. Milliseconds. */
const GROUPING = 100;
/** How often all addresses are read again, regardless of notifications. Milliseconds. */
const READ_PERIOD = 30_000;

/**
 * The addresses of this network namespace over rtnetlink: of all interfaces except one, up or down, with or without a carrier,
 * as the kernel lists them. The excluded interface is identified by its name and may come and go.
 *
 * They are read once, updated by the kernel's notifications, and read again when notifications were lost, and periodically. So
 * listing them costs one system call while nothing changes. Followers are notified within a tenth of a second, except about
 * loopback and link-local IPv6 addresses, which come and go with every pod. In a worker thread they are not notified.
 */
export class NetlinkLocalAddresses implements LocalAddresses {
  private readonly watch: NetlinkSocket;
  private readonly known = new Map<string, string>();
  private listed: readonly string[] = [];
  /** The addresses that are followed, as text: now, and at the last notification. */
  private own = '';
  private reported: string | undefined;
  private exceptIndex: number | undefined;
  /** Undefined: they must be read. */
  private readAt: number | undefined;
  private failing = false;
  private timer: Timer | undefined;
  private onChange: (() => void) | undefined;
  private closed = false;

  /** Watches from now on. Throws a NetlinkError without netlink. */
  constructor(
    private readonly exceptDevice: string,
    private readonly clock: Clock,
    private readonly logger: Logger,
    private readonly openSocket = (groups: number) =>
      NetlinkSocket.open(NETLINK_ROUTE, groups === 0 ? {} : { groups, receiveBuffer: WATCH_BUFFER }),
  ) {
    this.watch = openSocket(GROUPS);
  }

  /** Throws a NetlinkError if the first read fails; later failures return the last known addresses. */
  list(): readonly string[] {
    const problem = this.catchUp();
    if (problem !== undefined && this.reported === undefined) throw problem;
    return this.listed;
  }

  follow(onChange: () => void): void {
    if (this.closed) return;
    this.onChange = onChange;
    this.watch.announce(() => this.readSoon());
    // Earlier addresses are not announced.
    this.readSoon();
  }

  close(): void {
    this.closed = true;
    this.timer?.cancel();
    this.watch.close();
  }

  private readSoon(): void {
    this.timer ??= this.clock.after(GROUPING, () => {
      this.timer = undefined;
      if (this.catchUp() !== undefined) this.readSoon();
      if (this.reported === undefined || this.reported === this.own) return;
      this.reported = this.own;
      this.onChange?.();
    });
  }

  /** Processes notifications. Returns why that failed, undefined when it worked. */
  private catchUp(): unknown {
    if (this.closed) return undefined;
    try {
      let changed = false;
      const lost = this.watch.collectMessages((message) => (changed = this.process(message) || changed));
      if (lost || this.readAt === undefined || this.clock.steady() - this.readAt >= READ_PERIOD)
        this.readAll();
      else if (changed) this.arrange();
      this.failing = false;
      return undefined;
    } catch (error) {
      this.readAt = undefined;
      if (!this.failing) this.logger.error({ error }, 'cannot read the addresses of this node; will retry');
      this.failing = true;
      return error;
    }
  }

  /** Processes a notification. Returns whether the known addresses changed. */
  private process(message: NetlinkMessage): boolean {
    if (message.type === RTM_NEWLINK) {
      const { name, index } = readLink(message);
      if (name === this.exceptDevice) this.exceptIndex = index;
      return false;
    }
    if (message.type !== RTM_NEWADDR && message.type !== RTM_DELADDR) return false;
    if (deviceOf(message) === this.exceptIndex) return false;
    const notification = readAddress(message);
    if (!notification) return false;
    const { key, address } = notification;
    if (message.type === RTM_DELADDR) return this.known.delete(key);
    if (this.known.has(key)) return false;
    this.known.set(key, address);
    return true;
  }

  private readAll(): void {
    const conversation = new NetlinkConversation(() => this.openSocket(0));
    try {
      this.exceptIndex = findLinkNow(conversation, this.exceptDevice)?.index;
      const addresses = readAddressesNow(conversation, this.exceptIndex);
      this.known.clear();
      for (const { key, address } of addresses) this.known.set(key, address);
    } finally {
      conversation.giveUp();
    }
    this.readAt = this.clock.steady();
    this.arrange();
    this.reported ??= this.own;
  }

  private arrange(): void {
    this.listed = [...new Set(this.known.values())].sort();
    this.own = this.listed.filter((text) => isOwnAddress(parseAddress(text)!)).join();
  }
}
