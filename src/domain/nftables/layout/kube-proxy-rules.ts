import type { NodeNetwork } from '../../forwarding/node-network.js';
import { BY_ADDRESS, BY_NODE_PORT } from './keys.js';
import { kubeProxyMapsOf } from './kube-proxy-maps.js';
import type { Rule } from './rule.js';
import { acceptingNodePorts, nodePortAddresses, verdict } from './statements.js';

/** By this rule of `services` our table is known where kube-proxy's maps are kept in it. */
export const KEEPS_KUBE_PROXY_RULES: Rule = {
  statements: [verdict(BY_ADDRESS, kubeProxyMapsOf(BY_ADDRESS).services)],
  comment: 'rules of kube-proxy, for what cannot be programmed',
};

/** What leads to kube-proxy's rules, by chain: before our rules and after them. */
export function kubeProxyRules(
  node: NodeNetwork,
): Readonly<Record<string, { readonly first?: readonly Rule[]; readonly last?: readonly Rule[] }>> {
  const [byAddress, byNodePort] = [kubeProxyMapsOf(BY_ADDRESS), kubeProxyMapsOf(BY_NODE_PORT)];
  const nodePorts = { statements: [...nodePortAddresses(node), verdict(BY_NODE_PORT, byNodePort.services)] };
  const nodePortCheck = {
    statements: [acceptingNodePorts(node), verdict(BY_NODE_PORT, byNodePort.noEndpoints)],
  };
  return {
    services: { last: [KEEPS_KUBE_PROXY_RULES, nodePorts] },
    'firewall-check': { first: [{ statements: [verdict(BY_ADDRESS, byAddress.firewall!)] }] },
    'service-endpoints-check': { last: [{ statements: [verdict(BY_ADDRESS, byAddress.noEndpoints)] }] },
    'nodeport-endpoints-check': { last: [nodePortCheck] },
  };
}
