import { isOwnAddress } from '../../domain/node/own-address.js';
import { NetlinkChannel } from '../netlink/netlink-channel.js';
import { NetlinkSocket } from '../netlink/netlink-socket.js';
import { NETLINK_ROUTE } from '../netlink/protocol.js';
import { deviceOf, listAddresses } from '../rtnetlink/addresses.js';
import { findLink, readLink } from '../rtnetlink/links.js';
import {
  RTM_DELADDR,
  RTM_NEWADDR,
  RTM_NEWLINK,
  RTMGRP_IPV4_IFADDR,
  RTMGRP_IPV6_IFADDR,
  RTMGRP_LINK,
} from '../rtnetlink/rtnetlink.js';
import { SERVICE_DEVICE, type NodeAddressReader } from './service-addresses.js';

const GROUPS = RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR;
/** Room for the notices of some thousand addresses of services, which come here too. */
const WATCH_BUFFER = 8 * 1024 * 1024;

/** Addresses of this node over rtnetlink, in the network namespace of this process. */
export class NetlinkNodeAddresses implements NodeAddressReader {
  private readonly channel: NetlinkChannel;
  private readonly watch: NetlinkSocket;
  /** The index of the device of the services; devices of that name are followed as they come. */
  private serviceDevice: number | undefined;

  /** Watches from now on. Throws a NetlinkError when there is no netlink. */
  constructor(
    openSocket = (groups: number) =>
      NetlinkSocket.open(NETLINK_ROUTE, { groups, receiveBuffer: WATCH_BUFFER }),
  ) {
    this.watch = openSocket(GROUPS);
    this.channel = new NetlinkChannel(() => openSocket(0));
  }

  async list(): Promise<readonly string[]> {
    const services = await findLink(this.channel, SERVICE_DEVICE);
    this.serviceDevice = services?.index;
    const all = await listAddresses(this.channel);
    const own = all.filter(
      (found) =>
        found.device !== services?.index && isOwnAddress({ family: found.family, text: found.address }),
    );
    return [...new Set(own.map(({ address }) => address))];
  }

  changed(): boolean {
    let changed = false;
    const lost = this.watch.collectMessages((message) => {
      if (message.type === RTM_NEWLINK) {
        const { name, index } = readLink(message);
        if (name === SERVICE_DEVICE) this.serviceDevice = index;
      } else if (message.type === RTM_NEWADDR || message.type === RTM_DELADDR)
        changed ||= deviceOf(message) !== this.serviceDevice;
    });
    return lost || changed;
  }

  close(): void {
    this.watch.close();
    this.channel.close();
  }
}
