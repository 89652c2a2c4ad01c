import { PROTOCOLS, type Protocol } from '../model/service-port-name.js';
import type { NodeNetwork } from './node-network.js';

const ALL_BUT_RELAYED = PROTOCOLS.filter((protocol) => protocol !== 'TCP');
const NONE: readonly Protocol[] = [];

/** The protocols whose packets to node ports on loopback addresses the rules reject: in mode nftables only. */
export function rejectedProtocols({
  loopbackNodePorts,
}: Pick<NodeNetwork, 'loopbackNodePorts'>): readonly Protocol[] {
  if (loopbackNodePorts === undefined) return NONE;
  return loopbackNodePorts === 'relayed' ? ALL_BUT_RELAYED : PROTOCOLS;
}
