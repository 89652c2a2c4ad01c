import { readFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { parseAddress } from '../../domain/net/address.js';
import type { IpFamily } from '../../domain/net/ip-family.js';
import { chooseHostAddress, type InterfaceAddress } from '../../domain/userspace/host-address.js';
import type { ProxyAddress } from '../../domain/userspace/proxy-address.js';

const LOOPBACK = ['127.0.0.1', '::1'];
const UNSPECIFIED = ['0.0.0.0', '::'];
/** linux/route.h */
const RTF_UP = 0x1;
const RTF_REJECT = 0x200;
/** linux/if.h */
const IFF_POINTOPOINT = 0x10;

/** What of this machine decides where the proxy is reached. */
export interface HostNetwork {
  addresses(): readonly InterfaceAddress[];
  /** Interfaces with a default route of the family, in the kernel's order. */
  defaultRoutes(family: IpFamily): readonly string[];
}

/**
 * Where the proxy's sockets are, for each family that can be served: all of them when the address to listen on is
 * unspecified, otherwise its own (spec/userspace.md 1).
 * @throws when there is none
 */
export function proxyAddresses(
  bindAddress: string,
  families: readonly IpFamily[],
  host: HostNetwork = THIS_HOST,
): ReadonlyMap<IpFamily, ProxyAddress> {
  const bind = parseAddress(bindAddress)!;
  if (LOOPBACK.includes(bind.text))
    throw new Error(
      `cannot proxy on localhost: --bind-address is ${bindAddress}; nobody else could reach it`,
    );
  if (!UNSPECIFIED.includes(bind.text)) {
    if (!families.includes(bind.family))
      throw new Error(`--bind-address ${bindAddress}: ${bind.family} cannot be served on this machine`);
    return new Map([[bind.family, { listen: bind.text, host: bind.text }]]);
  }
  const found = families.flatMap((family) => {
    const address = chooseHostAddress(host.addresses(), host.defaultRoutes(family), family);
    return address === undefined ? [] : [[family, { listen: undefined, host: address }] as const];
  });
  if (found.length === 0)
    throw new Error('no interface that is up has an address for the proxy; name one with --bind-address');
  return new Map(found);
}

const THIS_HOST: HostNetwork = {
  addresses: () =>
    Object.entries(networkInterfaces()).flatMap(([interfaceName, addresses = []]) =>
      addresses.flatMap(({ address }) => {
        const parsed = parseAddress(address);
        return parsed ? [{ ...parsed, interfaceName, pointToPoint: isPointToPoint(interfaceName) }] : [];
      }),
    ),
  defaultRoutes: (family) => (family === 'IPv4' ? defaultRoutes4() : defaultRoutes6()),
};

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
