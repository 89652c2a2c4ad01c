import type { Node } from '../../../domain/model/node.js';
import { isLoopback, parseAddress } from '../../../domain/net/address.js';
import { cidrContains, firstHost, parseCidr, type Cidr } from '../../../domain/net/cidr.js';
import type { LocalTrafficDetector } from '../../../domain/node/local-traffic-detector.js';
import type { IpFamily } from '../../../domain/net/ip-family.js';

/** Made up, which the parentheses show: no name of an interface has any that a rule could look for. */
const POD_INTERFACE = '(pods)';
const OUTSIDE_INTERFACE = '(outside)';

/**
 * A node of which only its Node object is known, as when packets are traced on another machine. Its addresses are those that the
 * object names, and the first of each of its pod networks, which is the node's own in most of them.
 */
export class AssumedNode {
  readonly localAddresses: ReadonlySet<string>;
  private readonly podNetworks: readonly Cidr[];

  constructor(private readonly node: Node) {
    this.podNetworks = node.podCIDRs.flatMap((text) => parseCidr(text) ?? []);
    this.localAddresses = new Set([
      ...[...node.ips, ...(node.furtherAddresses ?? [])].map(({ text }) => text),
      ...this.podNetworks.map(firstHost),
      '127.0.0.1',
      '::1',
    ]);
  }

  /**
   * The interface through which packets come in: those of this node's pods as the detector of local traffic expects them.
   * @param isLocalEndpoint whether an endpoint on this node has the address
   */
  arrival(source: string, isLocalEndpoint: boolean, detector: LocalTrafficDetector | undefined): string {
    const isPod = isLocalEndpoint || this.podNetworks.some((network) => cidrContains(network, source));
    if (!isPod) return OUTSIDE_INTERFACE;
    return detector?.kind === 'interface' ? detector.name : POD_INTERFACE;
  }

  /** The likeliest address with which the node sends to a destination: that one itself if it is the node's own. */
  ownAddressTowards(destination: string): string | undefined {
    const { ips } = this.node;
    const address = parseAddress(destination)!;
    if (isLoopback(address)) return address.family === 'IPv4' ? '127.0.0.1' : '::1';
    if (this.localAddresses.has(destination)) return destination;
    return ips.find(({ family }) => family === address.family)?.text;
  }
}

/** Of the ranges for documentation, in which no real machine is (RFC 5737, 3849, 9637). */
const CANDIDATES: Readonly<Record<IpFamily, readonly string[]>> = {
  IPv4: ['203.0.113.77', '198.51.100.77', '192.0.2.77'],
  IPv6: ['2001:db8:ffff::77', '3fff::77'],
};

/** An address outside the cluster. The first candidate if all are in the cluster, where documentation ranges do not belong. */
export function outsideAddress(family: IpFamily, isInCluster: (address: string) => boolean): string {
  const candidates = CANDIDATES[family];
  return candidates.find((candidate) => !isInCluster(candidate)) ?? candidates[0]!;
}
