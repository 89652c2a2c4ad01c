/** The chains and rules that lead to proxy ports (docs/internals/spec/userspace.md §5). */

import { type ForwardingEntry, type Frontend, frontendName } from '../forwarding/forwarding-entry.js';
import { jump, sharedChain } from '../iptables/base-rules.js';
import {
  comment,
  addressText,
  MAX_PORT,
  numberText,
  protocolText,
  ruleText,
  to,
} from '../iptables/rule-text.js';
import type { IptablesServicePortRules, SharedEntry, TableName, BaseRules } from '../iptables/table.js';
import { displayName } from '../model/service-port-name.js';
import { hostPort } from '../net/address.js';

/** Where the proxy's sockets of one family are. */
export interface ProxyAddress {
  /** The one address that they listen on; undefined for every address of this machine. */
  readonly listen: string | undefined;
  /** The address by which processes of this machine reach them; undefined while it has none. */
  readonly host: string | undefined;
}

const NOT_BRIDGED = '-m physdev ! --physdev-is-in';
const LOCAL = '-m addrtype --dst-type LOCAL';
const PORTALS = 'handle ClusterIPs; NOTE: this must be before the NodePort rules';
const NODE_PORTS = 'handle service NodePorts; NOTE: this must be the last rule in the chain';

/** Service addresses, for traffic of containers and other hosts (nat PREROUTING) and of this host (nat OUTPUT). */
export const PORTALS_CONTAINER = 'KUBE-PORTALS-CONTAINER';
const PORTALS_HOST = 'KUBE-PORTALS-HOST';

/** The same for node ports. */
export const NODEPORT_CONTAINER = 'KUBE-NODEPORT-CONTAINER';
const NODEPORT_HOST = 'KUBE-NODEPORT-HOST';

/** Lets node-port traffic from outside in (filter INPUT). */
const NODEPORT_NON_LOCAL = 'KUBE-NODEPORT-NON-LOCAL';

/**
 * The five chains and the jumps to them, independent of services (docs/internals/spec/userspace.md §5.1). Service addresses come
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

/**
 * The rules that lead packets for a service port's addresses to its proxy port (docs/internals/spec/userspace.md §5.2); none for those of
 * this machine's processes while it has no address by which they reach it.
 * @param frontends those of the entry that can be served
 * @throws UnsafeRuleTextError when a value of the entry cannot stand in a rule
 */
export function compilePortals(
  { name, family }: Pick<ForwardingEntry, 'name' | 'family'>,
  frontends: readonly Frontend[],
  proxyPort: number,
  { listen, host }: ProxyAddress,
): IptablesServicePortRules {
  const protocol = protocolText(name.protocol);
  const because = comment(displayName(name));
  const fromOutside =
    listen === undefined
      ? `REDIRECT --to-ports ${numberText('proxy port', proxyPort, MAX_PORT)}`
      : `DNAT --to-destination ${hostPort(addressText(listen), proxyPort)}`;
  const reached = listen ?? host;
  const fromHere =
    reached === undefined ? undefined : `DNAT --to-destination ${hostPort(addressText(reached), proxyPort)}`;

  const rule = (port: number, address: string | undefined, matches: readonly string[], target: string) =>
    ruleText({
      destination: address === undefined ? undefined : to(address, family),
      protocol: `-p ${protocol}`,
      matches: [because, `-m ${protocol} --dport ${numberText('port', port, MAX_PORT)}`, ...matches],
      target,
    });
  const entriesOf = ({ kind, address, port }: Frontend): readonly SharedEntry[] => {
    const entry = (chain: string, matches: readonly string[], target: string): SharedEntry => ({
      table: 'nat',
      chain,
      rule: rule(port, address, matches, target),
      frontend: frontendName(address, port, name.protocol),
    });
    const entryHere = (chain: string, matches: readonly string[]) =>
      fromHere === undefined ? [] : [entry(chain, matches, fromHere)];
    switch (kind) {
      case 'cluster-ip':
      case 'load-balancer-ip':
        return [entry(PORTALS_CONTAINER, [], fromOutside), ...entryHere(PORTALS_HOST, [])];
      case 'external-ip':
        return [
          entry(PORTALS_CONTAINER, [NOT_BRIDGED], fromOutside),
          entry(PORTALS_CONTAINER, [LOCAL], fromOutside),
          ...entryHere(PORTALS_HOST, [LOCAL]),
        ];
      case 'node-port':
        return [
          entry(NODEPORT_CONTAINER, [], fromOutside),
          ...entryHere(NODEPORT_HOST, []),
          {
            table: 'filter' satisfies TableName,
            chain: NODEPORT_NON_LOCAL,
            rule: rule(proxyPort, undefined, ['-m state --state NEW'], 'ACCEPT'),
          },
        ];
    }
  };
  return { chains: [], entries: frontends.flatMap(entriesOf) };
}
