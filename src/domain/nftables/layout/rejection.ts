import type { NodeNetwork } from '../../forwarding/node-network.js';
import { PROTOCOL_NUMBERS } from '../../model/protocol-number.js';
import type { Protocol } from '../../model/service-port-name.js';
import type { Rule } from './rule.js';

const ALL = Object.keys(PROTOCOL_NUMBERS) as readonly Protocol[];
const ALL_BUT_RELAYED = ALL.filter((protocol) => protocol !== 'TCP');
const NONE: readonly Protocol[] = [];

/** The protocols whose packets to node ports on loopback addresses the rules reject. */
export function rejectedProtocols({
  loopbackNodePorts,
}: Pick<NodeNetwork, 'loopbackNodePorts'>): readonly Protocol[] {
  if (loopbackNodePorts === undefined) return NONE;
  return loopbackNodePorts === 'relayed' ? ALL_BUT_RELAYED : ALL;
}

/** The chain that rejects packets of that protocol. kube-proxy's name. */
export function rejectionChain(protocol: Protocol): string {
  return `localhost-nodeport-reject-${protocol.toLowerCase()}`;
}

/** The named counter of the packets that it rejected. kube-proxy's name. */
export function rejectionCounter(protocol: Protocol): string {
  return `localhost-nodeport-rejected-${protocol.toLowerCase()}`;
}

/** The rules of rejectionChain. */
export function rejectionRules(protocol: Protocol): readonly Rule[] {
  return [{ statements: [{ kind: 'count', counter: rejectionCounter(protocol) }, { kind: 'reject' }] }];
}
