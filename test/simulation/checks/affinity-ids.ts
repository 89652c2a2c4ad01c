import type { IpFamily } from '../../../src/domain/net/ip-family.js';
import { IPPROTO } from '../kernel/conntrack/ctnetlink.js';
import { addressBytes } from '../kernel/netlink/addresses.js';
import { FAMILY } from '../kernel/nf-tables/numbers.js';
import type { Table } from '../kernel/nf-tables/objects.js';
import type { Simulation } from '../simulation.js';
import { clientsOf, packetOf } from './clients.js';
import type { ExpectedFrontend } from './expected-ports.js';

/** Maps from a place of a frontend to the id of the endpoint there. */
const IDS = /sticky-ids$/;
/** Maps from a frontend and the id of an endpoint to the endpoint. */
const ENDPOINTS = /sticky-endpoints$/;
/** Hexadecimal digits. */
const ID_LENGTH = 8;

export function familyOf({ family }: Table): IpFamily {
  return family === FAMILY.IP ? 'IPv4' : 'IPv6';
}

/** Of all endpoints in a table of mode nftables that have one, in hexadecimal. */
export function idsIn(table: Table): ReadonlySet<string> {
  return new Set(elementsOf(table, IDS).map(({ value }) => value));
}

/**
 * Those under which packets that come now have their clients remembered. Of elements that could not be removed, since others had removed
 * one of them, the rest stays for a moment, and no packet is led to it.
 */
export function idsMet({ world, history }: Simulation, table: Table): ReadonlySet<string> {
  const endpoints = elementsOf(table, ENDPOINTS);
  if (endpoints.length === 0) return new Set();
  const family = familyOf(table);
  const ports = history.services
    .flatMap((service) => history.states(service).flat())
    .filter((port) => port.family === family);
  return new Set(
    ports.flatMap((port) =>
      port.frontends.flatMap((frontend) => {
        const met = clientsOf(port)
          .flatMap((client) => world.machine.walk.walk(packetOf(port, client, frontend)))
          .flatMap(({ sticky, endpoint }) => (sticky && endpoint ? valueOf(endpoint) : []));
        return endpoints
          .filter(({ key, value }) => met.includes(value) && key.slice(0, -ID_LENGTH) === keyOf(frontend))
          .map(({ key }) => key.slice(-ID_LENGTH));
      }),
    ),
  );
}

interface MapElement {
  readonly key: string;
  readonly value: string;
}

/** In hexadecimal. */
function elementsOf({ sets }: Table, name: RegExp): readonly MapElement[] {
  return [...sets.values()]
    .filter((set) => name.test(set.name))
    .flatMap(({ elements }) => [...elements.values()])
    .map(({ key, value }) => ({ key: key!.toString('hex'), value: value!.toString('hex') }));
}

function keyOf({ address, protocol, port }: ExpectedFrontend): string {
  const number = IPPROTO[protocol as keyof typeof IPPROTO];
  return (address === undefined ? '' : addressHex(address)) + wordOf(number, 2) + wordOf(port, 4);
}

function valueOf({ address, port }: { readonly address: string; readonly port: number }): string {
  return addressHex(address) + wordOf(port, 4);
}

function addressHex(address: string): string {
  return addressBytes(address).toString('hex');
}

/** A number of so many hexadecimal digits, filled up to a word, as parts of keys and values are. */
function wordOf(number: number, digits: number): string {
  return number.toString(16).padStart(digits, '0').padEnd(8, '0');
}
