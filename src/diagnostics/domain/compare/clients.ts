import {
  addressNumber,
  rangeHas,
  rangesOf,
  singleAddress,
  without,
  type AddressRange,
  type AddressRanges,
} from './address-ranges.js';
import { isLoopback, LOCALHOST } from '../../../domain/net/address.js';
import { parseCidr } from '../../../domain/net/cidr.js';
import { rangeOf } from './address-ranges.js';
import { familyOf, type IpFamily } from '../../../domain/net/ip-family.js';
import type { Frontend } from './frontends.js';

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

  /** Those that can send there. Nobody sends to loopback addresses from elsewhere, or from them to other addresses. */
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
