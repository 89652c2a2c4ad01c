/** The host's network: its addresses, and those on which the proxy is reached. */

import ipaddr from 'ipaddr.js';
import { readFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import type { Logger } from '../../application/ports/logger.js';
import { parseAddress, type Address } from '../../domain/net/address.js';
import type { IpFamily } from '../../domain/net/ip-family.js';
import { NetlinkError, NetlinkRequestError } from '../netlink/errors.js';
import { NetlinkChannel } from '../netlink/netlink-channel.js';
import { NetlinkSocket } from '../netlink/netlink-socket.js';
import { NETLINK_ROUTE } from '../netlink/protocol.js';
import { listAddresses, listLinks, IFF_POINTOPOINT, IFF_UP } from '../rtnetlink/rtnetlink.js';

/** linux/route.h */
const RTF_UP = 0x1;
const RTF_REJECT = 0x200;

/** The settings for the proxy's own addresses on this machine. */
export interface HostNetwork {
  /** Of the interfaces that are up, with a carrier or without. */
  readonly addresses: readonly InterfaceAddress[];
  /** Interfaces with a default route of the family, in the kernel's order. */
  defaultRoutes(family: IpFamily): readonly string[];
}

/**
 * Reads it in this network namespace. Without netlink, the addresses of interfaces that have no carrier are missing.
 * @throws NetlinkRequestError when the kernel rejects to list them
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

const LOOPBACK = ['127.0.0.1', '::1'];
const UNSPECIFIED = ['0.0.0.0', '::'];

/**
 * The one address on which the proxy's sockets of a family listen, undefined for every address of this machine, for each family
 * that can be served: all of them when the address to listen on is unspecified, otherwise its own (docs/internals/spec/userspace.md §1).
 * @throws when nothing can be served there
 */
export function listenAddresses(
  bindAddress: string,
  families: readonly IpFamily[],
): ReadonlyMap<IpFamily, string | undefined> {
  const bind = parseAddress(bindAddress)!;
  if (LOOPBACK.includes(bind.text))
    throw new Error(
      `cannot proxy on localhost: --bind-address is ${bindAddress}; no other machine could reach it`,
    );
  if (UNSPECIFIED.includes(bind.text)) return new Map(families.map((family) => [family, undefined]));
  if (!families.includes(bind.family))
    throw new Error(`--bind-address ${bindAddress}: ${bind.family} cannot be served on this machine`);
  return new Map([[bind.family, bind.text]]);
}

/** The address by which the machine is known now; undefined while it has none. */
export function hostAddress(family: IpFamily, host: HostNetwork): string | undefined {
  return chooseHostAddress(host.addresses, host.defaultRoutes(family), family);
}

/** An address of an interface of this machine that is up, with a carrier or without. */
export interface InterfaceAddress extends Address {
  readonly interfaceName: string;
  readonly pointToPoint: boolean;
}

/** Not this machine alone, not this link alone, not many. */
const OTHER_RANGES = new Set(['unspecified', 'broadcast', 'multicast', 'linkLocal', 'loopback']);

/**
 * The address of the family by which this host is known (docs/internals/spec/userspace.md §1): of an interface with a default route,
 * or else of any that is neither loopback nor point-to-point. Undefined when there is none.
 * @param defaultRoutes interfaces with a default route of the family, the best first
 */
export function chooseHostAddress(
  addresses: readonly InterfaceAddress[],
  defaultRoutes: readonly string[],
  family: IpFamily,
): string | undefined {
  const usable = addresses.filter((address) => address.family === family && isGlobalUnicast(address));
  for (const name of defaultRoutes) {
    const found = usable.find(({ interfaceName }) => interfaceName === name);
    if (found) return found.text;
  }
  return usable.find(({ interfaceName, pointToPoint }) => interfaceName !== 'lo' && !pointToPoint)?.text;
}

function isGlobalUnicast({ text }: Address): boolean {
  return !OTHER_RANGES.has(ipaddr.parse(text).range());
}
