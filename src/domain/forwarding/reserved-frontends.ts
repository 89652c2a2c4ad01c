import { isLoopback, parseAddress } from '../net/address.js';
import type { IpFamily } from '../net/ip-family.js';
import { isOwnAddress } from '../node/node-addresses.js';
import { frontendName } from './forwarding-entry.js';

/**
 * Frontends that no Service gets, except as its own cluster IP, because the proxy itself depends on what is there: by name, with
 * what that is, for people. The text of an address stands for all its ports.
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

/** The places that the proxy depends on. */
export interface ReservedPlaces {
  readonly listeners: readonly OwnListener[];
  /** The addresses to which the proxy opens connections for the API server, as it uses them. */
  readonly apiServers: readonly TcpAddress[];
  /** Of this machine, of both families. */
  readonly localAddresses: readonly string[];
  /** Node ports are served on loopback addresses, too. */
  readonly localhostNodePorts: boolean;
  /**
   * IPVS mode: the addresses that the node has. Any other address that a Service takes becomes one of the node, with all its ports.
   * Missing: a Service takes single ports.
   */
  readonly nodeAddresses?: readonly string[] | undefined;
}

const API_SERVER = 'the API server that this proxy uses';
const API_SERVER_ADDRESS = `${API_SERVER} (IPVS mode: with all ports of the address)`;

/** Whether it listens on all addresses of the machine. */
export function isEverywhere({ address }: OwnListener): boolean {
  return address === '0.0.0.0' || address === '::';
}

/** Those of one family. A listener on an unspecified address is reached at all addresses of the machine, and by node ports. */
export function reservedFrontends(
  family: IpFamily,
  { listeners, apiServers, localAddresses, localhostNodePorts, nodeAddresses }: ReservedPlaces,
): ReservedFrontends {
  const reserved: Record<string, string> = {};
  const ofFamily = (address: string): string | undefined => {
    const parsed = parseAddress(address);
    return parsed?.family === family && isOwnAddress(parsed) ? parsed.text : undefined;
  };
  const reserve = (address: string, port: number, name: string): void => {
    const text = ofFamily(address);
    if (text !== undefined) reserved[frontendName(text, port, 'TCP')] = name;
  };
  for (const own of listeners) {
    const { address, port, name } = own;
    for (const each of isEverywhere(own) ? localAddresses : [address]) reserve(each, port, name);
    const listener = parseAddress(address);
    if (listener && (localhostNodePorts || !isLoopback(listener)))
      reserved[frontendName(undefined, port, 'TCP')] = name;
  }
  for (const { address, port } of apiServers) {
    reserve(address, port, API_SERVER);
    const text = ofFamily(address);
    if (text !== undefined && nodeAddresses?.includes(text) === false) reserved[text] = API_SERVER_ADDRESS;
  }
  return reserved;
}
