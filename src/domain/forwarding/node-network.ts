import type { IpFamily } from '../net/ip-family.js';
import type { LocalTrafficDetector } from '../node/local-traffic-detector.js';
import { PROTOCOLS, type Protocol } from '../model/service-port-name.js';

/** Everything about this node that the rules of one family depend on, besides services. */
export interface NodeNetwork {
  readonly family: IpFamily;
  /** Undefined: rules that need to distinguish local traffic are omitted. */
  readonly detector: LocalTrafficDetector | undefined;
  /** The bit of the packet mark for masquerading. */
  readonly masqueradeBit: number;
  readonly masqueradeAll: boolean;
  /** The addresses that accept node ports, canonical and sorted; 'all' for every local address but loopback. */
  readonly nodePortIPs: 'all' | readonly string[];
  /**
   * The node's own addresses, canonical and sorted: those on any device except the one for service addresses, without
   * loopback. Only for modes that need to list them.
   */
  readonly nodeAddresses?: readonly string[];
  /** Node ports are served on 127.0.0.0/8 too: in userspace mode, and in iptables mode for IPv4. Missing means no. */
  readonly localhostNodePorts?: boolean;
  /**
   * nftables mode: the handling of node ports on 127.0.0.0/8 and ::1. `rejected`: the rules reject and count them. `relayed`: so
   * they do except for TCP, which the proxy itself listens for. Missing: the rules leave them alone
   * (docs/internals/spec/changes-1.37.md §4).
   */
  readonly loopbackNodePorts?: 'rejected' | 'relayed';
  /** Ranges of cluster IPs, canonical and sorted; traffic to unused addresses in them is dropped. */
  readonly serviceCIDRs: readonly string[];
}

const ALL_BUT_RELAYED = PROTOCOLS.filter((protocol) => protocol !== 'TCP');
const NONE: readonly Protocol[] = [];

/** The protocols whose packets to node ports on loopback addresses the rules reject: in nftables mode only. */
export function rejectedProtocols({
  loopbackNodePorts,
}: Pick<NodeNetwork, 'loopbackNodePorts'>): readonly Protocol[] {
  if (loopbackNodePorts === undefined) return NONE;
  return loopbackNodePorts === 'relayed' ? ALL_BUT_RELAYED : PROTOCOLS;
}
