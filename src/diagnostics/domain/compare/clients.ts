import {
  addressNumber,
  rangeHas,
  rangesOf,
  singleAddress,
  without,
  type AddressRange,
  type AddressRanges,
  numberedAddress,
} from './address-ranges.js';
import { isLoopback, LOCALHOST } from '../../../domain/net/address.js';
import { parseCidr, addressBits } from '../../../domain/net/cidr.js';
import { rangeOf } from './address-ranges.js';
import { familyOf, type IpFamily } from '../../../domain/net/ip-family.js';
import type { Protocol } from '../../../domain/model/service-port-name.js';
import { getOrMake } from '../../../domain/model/maps.js';
import type { NamedDestination } from './side.js';

/** The node whose clients are told apart. */
export interface ComparedNode {
  readonly family: IpFamily;
  /** Without service addresses. */
  readonly localAddresses: ReadonlySet<string>;
  /** The networks of this node's pods, where they are known. */
  readonly podNetworks: readonly AddressRange[];
  /** The networks of all pods, where they are known. */
  readonly clusterNetworks: readonly AddressRange[];
}

/** Who sends: to this node, or on it. */
export type ClientKind = 'a pod here' | 'a pod elsewhere' | 'outside' | 'the node' | 'the node, by loopback';

/** Sources that come in the same way. */
export interface ClientSpace {
  readonly sources: AddressRanges;
  /** Packets of these come in through an interface. */
  readonly arrives: boolean;
}

const EVERY = { IPv4: '0.0.0.0/0', IPv6: '::/0' } as const;
/** No machine sends from there: this network, loopback, multicast and above. */
const IMPOSSIBLE = {
  IPv4: ['0.0.0.0/8', '127.0.0.0/8', '224.0.0.0/3'],
  IPv6: ['::/127', 'ff00::/8'],
} as const;
const LOOPBACK = { IPv4: '127.0.0.0/8', IPv6: '::1/128' } as const;
/** Of what is outside, these are shown first: addresses for documentation. */
const SHOWN = { IPv4: '203.0.113.77', IPv6: '2001:db8:ffff::77' } as const;

/** All clients of a node, of all kinds. */
export class Clients {
  private readonly arriving: AddressRanges;
  private readonly own: AddressRanges;
  private readonly loopback: AddressRange;
  private readonly shown: readonly bigint[];

  constructor(readonly node: ComparedNode) {
    const { family, localAddresses, podNetworks, clusterNetworks } = node;
    const own = [...localAddresses].filter(
      (text) => familyOf(text) === family && !isLoopback({ family, text }),
    );
    const network = (text: string): AddressRange => rangeOf(parseCidr(text)!);
    const excluded = [...IMPOSSIBLE[family].map(network), ...own.map(singleAddress)];
    this.arriving = without([network(EVERY[family])], rangesOf(excluded));
    this.own = rangesOf(own.map(singleAddress));
    this.loopback = network(LOOPBACK[family]);
    this.shown = [
      addressNumber(SHOWN[family]),
      ...podNetworks.map(({ first }) => first + 200n),
      ...clusterNetworks.map(({ last }) => last - 55n),
    ];
  }

  /** Those that can send there. No packets go to loopback addresses from other machines, or from them to other addresses. */
  to({ address: text }: Frontend): readonly ClientSpace[] {
    const { family } = this.node;
    if (isLoopback({ family, text })) return [{ sources: [this.loopback], arrives: false }];
    return [
      { sources: this.arriving, arrives: true },
      { sources: this.own, arrives: false },
    ];
  }

  /** The one that stands for the others, in words if there are any for it. */
  oneOf(sources: AddressRanges): bigint {
    const has = (number: bigint) => sources.some((range) => rangeHas(range, number));
    const localhost = addressNumber(LOCALHOST[this.node.family]);
    return this.shown.find(has) ?? (has(localhost) ? localhost : sources[0]!.first);
  }

  kindOf(source: bigint, arrives: boolean): ClientKind {
    const { podNetworks, clusterNetworks } = this.node;
    if (!arrives) return rangeHas(this.loopback, source) ? 'the node, by loopback' : 'the node';
    if (podNetworks.some((range) => rangeHas(range, source))) return 'a pod here';
    return clusterNetworks.some((range) => rangeHas(range, source)) ? 'a pod elsewhere' : 'outside';
  }
}

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
