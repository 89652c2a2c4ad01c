import { isLoopback, parseAddress } from '../net/address.js';
import type { IpFamily } from '../net/ip-family.js';
import { isOwnAddress } from '../node/node-addresses.js';
import { frontendName } from './frontend-name.js';

/**
 * Frontends that no Service gets, except as its own cluster IP, because the proxy itself depends on what is there: by name, with
 * what that is, for people.
 */
export type ReservedFrontends = Readonly<Record<string, string>>;

/** An address and TCP port. */
export interface TcpAddress {
  readonly address: string;
  readonly port: number;
}

/** A TCP port on which the proxy listens. */
export interface OwnListener extends TcpAddress {
  /** For people: `the health checks of this proxy`. */
  readonly name: string;
}

/** What the proxy depends on. */
export interface ReservedPlaces {
  readonly listeners: readonly OwnListener[];
  /** The addresses to which the proxy opens connections for the API server, as it uses them. */
  readonly apiServers: readonly TcpAddress[];
  /** Of this machine, of both families. */
  readonly localAddresses: readonly string[];
  /** Node ports are served on loopback addresses, too. */
  readonly localhostNodePorts: boolean;
}

/** Whether it listens on all addresses of the machine. */
export function isEverywhere({ address }: OwnListener): boolean {
  return address === '0.0.0.0' || address === '::';
}

/** Those of one family. A listener on an unspecified address is reached at all addresses of the machine, and by node ports. */
export function reservedFrontends(
  family: IpFamily,
  { listeners, apiServers, localAddresses, localhostNodePorts }: ReservedPlaces,
): ReservedFrontends {
  const reserved: Record<string, string> = {};
  const reserve = (address: string, port: number, name: string): void => {
    const parsed = parseAddress(address);
    if (parsed?.family === family && isOwnAddress(parsed))
      reserved[frontendName(parsed.text, port, 'TCP')] = name;
  };
  for (const own of listeners) {
    const { address, port, name } = own;
    for (const each of isEverywhere(own) ? localAddresses : [address]) reserve(each, port, name);
    const listener = parseAddress(address);
    if (listener && (localhostNodePorts || !isLoopback(listener)))
      reserved[frontendName(undefined, port, 'TCP')] = name;
  }
  for (const { address, port } of apiServers) reserve(address, port, 'the API server that this proxy uses');
  return reserved;
}
