import type { Protocol } from '../../model/service-port-name.js';
import type { Rule } from './rule.js';

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
