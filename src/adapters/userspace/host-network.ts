import { readFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import type { Logger } from '../../application/ports/logger.js';
import { parseAddress } from '../../domain/net/address.js';
import type { IpFamily } from '../../domain/net/ip-family.js';
import type { InterfaceAddress } from '../../domain/userspace/host-address.js';
import { NetlinkError, NetlinkRequestError } from '../netlink/errors.js';
import { NetlinkChannel } from '../netlink/netlink-channel.js';
import { NetlinkSocket } from '../netlink/netlink-socket.js';
import { NETLINK_ROUTE } from '../netlink/protocol.js';
import { listAddresses } from '../rtnetlink/addresses.js';
import { listLinks } from '../rtnetlink/links.js';
import { IFF_POINTOPOINT, IFF_UP } from '../rtnetlink/rtnetlink.js';

/** linux/route.h */
const RTF_UP = 0x1;
const RTF_REJECT = 0x200;

/** What decides where the proxy is reached on this machine. */
export interface HostNetwork {
  /** Of the interfaces that are up, with a carrier or without. */
  readonly addresses: readonly InterfaceAddress[];
  /** Interfaces with a default route of the family, in the kernel's order. */
  defaultRoutes(family: IpFamily): readonly string[];
}

/**
 * Reads it in this network namespace. Without netlink, the addresses of interfaces that have no carrier are missing.
 * @throws NetlinkRequestError when the kernel refuses to list them
 */
export async function readHostNetwork(logger: Logger): Promise<HostNetwork> {
  return {
    addresses: await readAddresses(logger),
    defaultRoutes: (family) => (family === 'IPv4' ? defaultRoutes4() : defaultRoutes6()),
  };
}

async function readAddresses(logger: Logger): Promise<readonly InterfaceAddress[]> {
  const openSocket = () => NetlinkSocket.open(NETLINK_ROUTE);
  try {
    const links = await NetlinkChannel.during(openSocket, listLinks);
    const up = new Map(links.filter(({ flags }) => (flags & IFF_UP) !== 0).map((link) => [link.index, link]));
    const addresses = await NetlinkChannel.during(openSocket, (channel) => listAddresses(channel));
    return addresses.flatMap(({ device, family, address }) => {
      const link = up.get(device);
      if (!link) return [];
      const pointToPoint = (link.flags & IFF_POINTOPOINT) !== 0;
      return [{ family, text: address, interfaceName: link.name, pointToPoint }];
    });
  } catch (error) {
    if (!(error instanceof NetlinkError) || error instanceof NetlinkRequestError) throw error;
    logger.warn({ error }, 'netlink is unavailable; ignoring addresses of interfaces without a carrier');
    return addressesWithCarrier();
  }
}

function addressesWithCarrier(): readonly InterfaceAddress[] {
  return Object.entries(networkInterfaces()).flatMap(([interfaceName, addresses = []]) =>
    addresses.flatMap(({ address }) => {
      const parsed = parseAddress(address);
      return parsed ? [{ ...parsed, interfaceName, pointToPoint: isPointToPoint(interfaceName) }] : [];
    }),
  );
}

function defaultRoutes4(): readonly string[] {
  return linesOf('/proc/net/route').flatMap((line) => {
    const [name = '', destination, , flags = '', , , , mask] = line.split(/\s+/);
    return destination === '00000000' && mask === '00000000' && leads(flags) ? [name] : [];
  });
}

function defaultRoutes6(): readonly string[] {
  return linesOf('/proc/net/ipv6_route').flatMap((line) => {
    const [destination = '', length, , , , , , , flags = '', name = ''] = line.trim().split(/\s+/);
    return /^0+$/.test(destination) && length === '00' && leads(flags) ? [name] : [];
  });
}

function leads(flags: string): boolean {
  const bits = Number.parseInt(flags, 16);
  return (bits & RTF_UP) !== 0 && (bits & RTF_REJECT) === 0;
}

function isPointToPoint(interfaceName: string): boolean {
  const [flags = '0'] = linesOf(`/sys/class/net/${interfaceName}/flags`);
  return (Number(flags) & IFF_POINTOPOINT) !== 0;
}

/** None where there is no such file. */
function linesOf(path: string): readonly string[] {
  try {
    return readFileSync(path, 'utf8').trimEnd().split('\n');
  } catch {
    return [];
  }
}
