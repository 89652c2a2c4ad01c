import type { Dispatch } from '../iptables/state/lost-frontends.js';
import { comment } from '../iptables/text/quoting.js';
import { ruleText } from '../iptables/text/rule-parts.js';
import type { BaseRules, Jump, SharedChain, TableName } from '../iptables/table.js';
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
    chain('nat', PORTALS_CONTAINER),
    chain('nat', PORTALS_HOST),
    chain('nat', NODEPORT_CONTAINER),
    chain('nat', NODEPORT_HOST),
    chain('filter', NODEPORT_NON_LOCAL),
  ],
  jumps: [
    jump('nat', 'PREROUTING', 'first', [comment(PORTALS)], PORTALS_CONTAINER),
    jump('nat', 'OUTPUT', 'first', [comment(PORTALS)], PORTALS_HOST),
    jump('nat', 'PREROUTING', 'last', [LOCAL, comment(NODE_PORTS)], NODEPORT_CONTAINER),
    jump('nat', 'OUTPUT', 'last', [LOCAL, comment(NODE_PORTS)], NODEPORT_HOST),
    jump(
      'filter',
      'INPUT',
      'first',
      [comment('Ensure that non-local NodePort traffic can flow')],
      NODEPORT_NON_LOCAL,
    ),
  ],
  unmanagedChains: [],
};

/** The portals of this host's own packets: one rule for each frontend. */
export const PORTAL_DISPATCH: Dispatch = { chains: [PORTALS_HOST, NODEPORT_HOST], targets: 'DNAT' };

function chain(table: TableName, name: string): SharedChain {
  return { table, name, before: [], after: [] };
}

function jump(
  table: TableName,
  from: string,
  place: Jump['place'],
  matches: readonly string[],
  target: string,
): Jump {
  return { table, chain: from, rule: ruleText({ matches, target }), place };
}
