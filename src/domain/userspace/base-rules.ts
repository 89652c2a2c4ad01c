import { jump, sharedChain } from '../iptables/compile/jump.js';
import type { Dispatch } from '../iptables/state/lost-frontends.js';
import { comment } from '../iptables/text/quoting.js';
import type { BaseRules } from '../iptables/table.js';
import {
  NODEPORT_CONTAINER,
  NODEPORT_HOST,
  NODEPORT_NON_LOCAL,
  PORTALS_CONTAINER,
  PORTALS_HOST,
} from './chain-names.js';

const PORTALS = 'handle ClusterIPs; NOTE: this must be before the NodePort rules';
const NODE_PORTS = 'handle service NodePorts; NOTE: this must be the last rule in the chain';
const LOCAL = '-m addrtype --dst-type LOCAL';

/**
 * The five chains and what leads to them, whatever services there are (docs/spec/userspace.md §5.1). Service addresses come
 * before node ports: one that is an address of this machine must not be taken for a node port of the same number.
 */
export const USERSPACE_BASE_RULES: BaseRules = {
  chains: [],
  shared: [
    sharedChain('nat', PORTALS_CONTAINER),
    sharedChain('nat', PORTALS_HOST),
    sharedChain('nat', NODEPORT_CONTAINER),
    sharedChain('nat', NODEPORT_HOST),
    sharedChain('filter', NODEPORT_NON_LOCAL),
  ],
  jumps: [
    jump('nat', 'PREROUTING', PORTALS_CONTAINER, [comment(PORTALS)]),
    jump('nat', 'OUTPUT', PORTALS_HOST, [comment(PORTALS)]),
    jump('nat', 'PREROUTING', NODEPORT_CONTAINER, [LOCAL, comment(NODE_PORTS)], 'last'),
    jump('nat', 'OUTPUT', NODEPORT_HOST, [LOCAL, comment(NODE_PORTS)], 'last'),
    jump('filter', 'INPUT', NODEPORT_NON_LOCAL, [comment('Ensure that non-local NodePort traffic can flow')]),
  ],
  unmanagedChains: [],
};

/** The portals of this host's own packets: one rule for each frontend. */
export const PORTAL_DISPATCH: Dispatch = { chains: [PORTALS_HOST, NODEPORT_HOST], targets: 'DNAT' };
