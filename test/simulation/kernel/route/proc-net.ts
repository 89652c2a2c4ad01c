import type { networkInterfaces } from 'node:os';
import { addressBytes, familyOf } from '../netlink/addresses.js';
import { AF_INET, AF_INET6 } from '../netlink/numbers.js';
import type { DeviceAddress } from './link.js';
import type { Links } from './links.js';
import type { Routes } from './routes.js';
import { IFF } from './rtnetlink.js';

/** Flags of routes (linux/route.h). */
const RTF = { UP: 0x1, GATEWAY: 0x2, HOST: 0x4, REJECT: 0x200 } as const;

/** A route as both files tell it. */
interface ListedRoute {
  readonly device: string;
  readonly prefix: string;
  readonly length: number;
  readonly gateway: string | undefined;
  readonly flags: number;
}

/** /proc/net/dev */
export function devFile(links: Links): string {
  const head =
    'Inter-|   Receive                                                |  Transmit\n face |bytes    packets\n';
  return (
    head +
    [...links.links()].map(({ name }) => `${name.padStart(6)}: 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n`).join('')
  );
}

/** /proc/net/route */
export function routeFile(links: Links, routes: Routes): string {
  const lines = [...routesOf(links, routes, AF_INET)].map(({ device, prefix, length, gateway, flags }) => {
    const mask = length === 0 ? 0 : (-1 << (32 - length)) >>> 0;
    const words = [
      littleEndian(prefix),
      littleEndian(gateway ?? '0.0.0.0'),
      flags.toString(16).toUpperCase().padStart(4, '0'),
    ];
    const maskBytes = Buffer.alloc(4);
    maskBytes.writeUInt32BE(mask);
    return [device, ...words, '0', '0', '0', hexadecimal(maskBytes.reverse()), '0', '0', '0'].join('\t');
  });
  return [
    'Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT',
    ...lines,
    '',
  ].join('\n');
}

/** /proc/net/ipv6_route */
export function ipv6RouteFile(links: Links, routes: Routes): string {
  const none = '0'.repeat(32);
  const lines = [...routesOf(links, routes, AF_INET6)].map(({ device, prefix, length, gateway, flags }) =>
    [
      addressBytes(prefix).toString('hex'),
      length.toString(16).padStart(2, '0'),
      ...[none, '00', gateway === undefined ? none : addressBytes(gateway).toString('hex')],
      ...['00000400', '00000001', '00000000', flags.toString(16).padStart(8, '0')],
      device.padStart(8),
    ].join(' '),
  );
  return lines.map((line) => `${line}\n`).join('');
}

/** What `os.networkInterfaces` tells: addresses of devices that are up. */
export function interfacesOf(links: Links): ReturnType<typeof networkInterfaces> {
  const found: NonNullable<ReturnType<typeof networkInterfaces>> = {};
  for (const item of links.addresses())
    if ((item.device.flags & IFF.RUNNING) !== 0)
      (found[item.device.name] ??= []).push(interfaceAddress(item));
  return found;
}

function interfaceAddress({ device, address, prefixLength }: DeviceAddress) {
  const common = {
    address,
    netmask: '',
    mac: [...device.hardwareAddress].map((byte) => byte.toString(16).padStart(2, '0')).join(':'),
    internal: (device.flags & IFF.LOOPBACK) !== 0,
    cidr: `${address}/${prefixLength}`,
  };
  return familyOf(address) === AF_INET
    ? { ...common, family: 'IPv4' as const }
    : { ...common, family: 'IPv6' as const, scopeid: 0 };
}

function* routesOf(links: Links, routes: Routes, family: number): Generator<ListedRoute> {
  for (const { destination, device, gateway, type = 'unicast' } of routes.list()) {
    const [prefix = '', length = '0'] = destination.split('/');
    if (familyOf(prefix) !== family) continue;
    const name =
      type === 'unicast' ? (device ?? routes.deviceTo(gateway ?? prefix)) : family === AF_INET ? '*' : 'lo';
    const refuses = type === 'unicast' ? 0 : RTF.REJECT;
    const flags = RTF.UP | refuses | (gateway === undefined ? 0 : RTF.GATEWAY);
    if (name !== undefined) yield { device: name, prefix, length: Number(length), gateway, flags };
  }
  for (const { device, peer, prefixLength } of links.addresses()) {
    if (familyOf(peer) !== family || (device.flags & IFF.UP) === 0 || device.index === 1) continue;
    if (family === AF_INET && prefixLength === 32) continue;
    const isHost = prefixLength === 128;
    const prefix = isHost ? peer : masked(peer, prefixLength);
    yield {
      device: device.name,
      prefix,
      length: prefixLength,
      gateway: undefined,
      flags: RTF.UP | (isHost ? RTF.HOST : 0),
    };
  }
}

function masked(address: string, length: number): string {
  const bytes = Buffer.from(addressBytes(address));
  for (let bit = length; bit < bytes.length * 8; bit++) bytes[bit >>> 3]! &= ~(0x80 >>> (bit & 7));
  return bytes.length === 4 ? bytes.join('.') : bytes.toString('hex').replace(/(.{4})(?!$)/g, '$1:');
}

function littleEndian(address: string): string {
  return hexadecimal(Buffer.from(addressBytes(address)).reverse());
}

function hexadecimal(bytes: Buffer): string {
  return bytes.toString('hex').toUpperCase();
}
