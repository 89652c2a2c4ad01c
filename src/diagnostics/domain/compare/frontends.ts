import { LOCALHOST } from '../../../domain/net/address.js';
import { addressNumber, numberedAddress, type AddressRange } from './address-ranges.js';
import type { Protocol } from '../../../domain/model/service-port-name.js';
import { addressBits } from '../../../domain/net/cidr.js';
import type { IpFamily } from '../../../domain/net/ip-family.js';
import { getOrMake } from '../../../domain/model/maps.js';
import type { NamedDestination } from './side.js';

/** A destination that packets are sent to. */
export interface Frontend {
  readonly address: string;
  readonly protocol: Protocol;
  readonly port: number;
  /** It stands for all ports of the address, or all addresses, that nothing names. */
  readonly standsForOthers?: true;
}

const PROTOCOLS: readonly Protocol[] = ['TCP', 'UDP', 'SCTP'];
const PORTS = 65535;
/** For documentation, so that only rules for whole networks are about it. */
const ELSEWHERE: Readonly<Record<IpFamily, string>> = { IPv4: '192.0.2.254', IPv6: '2001:db8:fffe::1' };

/**
 * Every destination that rules of a side tell from others, and for each address one more that stands for its other ports. Named
 * ports without an address count for the node's own addresses.
 */
export function* frontendsOf(
  named: Iterable<NamedDestination>,
  family: IpFamily,
  ownAddresses: Iterable<string>,
): Generator<Frontend> {
  const places = new NamedPlaces(family);
  for (const each of named) places.add(each);
  const own = new Set([...ownAddresses, LOCALHOST[family]]);
  for (const address of new Set([...places.byAddress.keys(), ...own]))
    yield* places.at(address, own.has(address));
  for (const address of places.unnamed(own)) yield* places.at(address, false);
}

class NamedPlaces {
  /** Ports by protocol; those of any protocol are under each. */
  readonly byAddress = new Map<string, Map<Protocol, Set<number>>>();
  private readonly anywhere = new Map<Protocol, Set<number>>();
  private readonly used = new Set<number>();
  private readonly wide = new Map<string, AddressRange>();
  private free: number | undefined;

  constructor(private readonly family: IpFamily) {}

  add({ addresses, protocol, ports }: NamedDestination): void {
    const isOne = addresses?.first === addresses?.last;
    if (addresses && !isOne) this.wide.set(`${addresses.first} ${addresses.last}`, addresses);
    const byProtocol =
      addresses && isOne
        ? getOrMake(this.byAddress, numberedAddress(addresses.first, this.family), () => new Map())
        : this.anywhere;
    for (const each of protocol ? [protocol] : PROTOCOLS) {
      const known = getOrMake(byProtocol, each, () => new Set<number>());
      for (const port of ports ?? []) {
        known.add(port);
        this.used.add(port);
      }
    }
    // What lies between two bounds is neither of them.
    if (ports && ports[1] - ports[0] > 1) this.addBetween(byProtocol, protocol, ports);
  }

  *at(address: string, isOwn: boolean): Generator<Frontend> {
    const other = (this.free ??= this.unusedPort());
    const its = this.byAddress.get(address);
    for (const protocol of PROTOCOLS) {
      const ports = new Set(its?.get(protocol));
      if (isOwn) for (const port of this.anywhere.get(protocol) ?? []) ports.add(port);
      for (const port of ports) yield { address, protocol, port };
      yield { address, protocol, port: other, standsForOthers: true };
    }
  }

  /** One address between any two bounds of ranges that rules name, which no rule names alone, and one of all others. */
  *unnamed(own: ReadonlySet<string>): Generator<string> {
    const known = new Set([...this.byAddress.keys(), ...own].map(addressNumber));
    const end = 1n << BigInt(addressBits(this.family));
    const bounds = new Set([...this.wide.values()].flatMap(({ first, last }) => [first, last + 1n]));
    for (const start of bounds) {
      let number = bounds.has(start + 1n) ? start : start + 1n;
      while (known.has(number)) number++;
      if (number < end) yield numberedAddress(number, this.family);
    }
    yield ELSEWHERE[this.family];
  }

  private addBetween(
    byProtocol: Map<Protocol, Set<number>>,
    protocol: Protocol | undefined,
    [first]: readonly [number, number],
  ): void {
    for (const each of protocol ? [protocol] : PROTOCOLS) byProtocol.get(each)!.add(first + 1);
    this.used.add(first + 1);
  }

  private unusedPort(): number {
    for (let port = 9; port <= PORTS; port++) if (!this.used.has(port)) return port;
    return PORTS;
  }
}
