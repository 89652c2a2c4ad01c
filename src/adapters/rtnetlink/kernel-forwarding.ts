import { readdirSync } from 'node:fs';
import type { PacketForwarding } from '../../application/ports/node/network.js';
import type { IpFamily } from '../../domain/net/ip-family.js';
import { NetlinkChannel } from '../netlink/netlink-channel.js';
import { NetlinkSocket } from '../netlink/netlink-socket.js';
import { NETLINK_ROUTE } from '../netlink/protocol.js';
import { readSysctl } from '../sysctl.js';
import { findLink } from './rtnetlink.js';

const IPV4_DEVICES = 'net/ipv4/conf';
const IPV6_DEVICES = 'net/ipv6/conf';
/** By family, the sysctl with which packets on a bridge meet the rules of iptables and nftables; that of one bridge is in its link. */
const BRIDGE_FILTER = {
  IPv4: 'net/bridge/bridge-nf-call-iptables',
  IPv6: 'net/bridge/bridge-nf-call-ip6tables',
} as const;

/** The settings of this network namespace. */
export class KernelForwarding implements PacketForwarding {
  private readonly channel = new NetlinkChannel(() => NetlinkSocket.open(NETLINK_ROUTE));

  disabledBy(family: IpFamily, device?: string): string | undefined {
    return family === 'IPv4' ? ipv4DisabledBy(device) : ipv6DisabledBy(device);
  }

  async unfilteredBy(family: IpFamily, device: string): Promise<string | undefined> {
    const name = BRIDGE_FILTER[family];
    const value = readSysctl(name);
    if (value === '1') return undefined;
    const link = await findLink(this.channel, device);
    if (link?.bridge === undefined) return undefined;
    if (value === undefined) return `${dotted(name)} is missing, as the module br_netfilter is not loaded`;
    return link.bridge.filters[family] ? undefined : off(name);
  }

  close(): Promise<void> {
    return this.channel.close();
  }
}

/** `ip_forward` sets all devices, and each has its own setting afterwards; that of the device where packets come in counts. */
function ipv4DisabledBy(device: string | undefined): string | undefined {
  const own = `${IPV4_DEVICES}/${device}/forwarding`;
  const value = device === undefined ? undefined : readSysctl(own);
  if (readSysctl('net/ipv4/ip_forward') !== '0') return value === '0' ? off(own) : undefined;
  const isOn = value === undefined ? forwardingDevices().length > 0 : value === '1';
  return isOn ? undefined : off('net/ipv4/ip_forward');
}

function forwardingDevices(): readonly string[] {
  try {
    return readdirSync(`/proc/sys/${IPV4_DEVICES}`).filter(
      (name) =>
        !['all', 'default', 'lo'].includes(name) && readSysctl(`${IPV4_DEVICES}/${name}/forwarding`) === '1',
    );
  } catch {
    return [];
  }
}

/** Only the setting of all devices counts, but for `force_forwarding` of one, since Linux 6.17. */
function ipv6DisabledBy(device: string | undefined): string | undefined {
  if (readSysctl(`${IPV6_DEVICES}/all/forwarding`) !== '0') return undefined;
  const isForced = device !== undefined && readSysctl(`${IPV6_DEVICES}/${device}/force_forwarding`) === '1';
  return isForced ? undefined : off(`${IPV6_DEVICES}/all/forwarding`);
}

function off(name: string): string {
  return `${dotted(name)} is 0`;
}

function dotted(name: string): string {
  return name.replaceAll('/', '.');
}
