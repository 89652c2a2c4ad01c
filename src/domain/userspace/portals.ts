import type { ForwardingEntry, Frontend } from '../forwarding/forwarding-entry.js';
import { frontendName } from '../forwarding/frontend-name.js';
import { comment } from '../iptables/text/quoting.js';
import {
  addressText,
  MAX_PORT,
  numberText,
  protocolText,
  ruleText,
  to,
} from '../iptables/text/rule-parts.js';
import type { IptablesServicePortRules, SharedEntry, TableName } from '../iptables/table.js';
import { displayName } from '../model/service-port-name.js';
import { hostPort } from '../net/address.js';
import {
  NODEPORT_CONTAINER,
  NODEPORT_HOST,
  NODEPORT_NON_LOCAL,
  PORTALS_CONTAINER,
  PORTALS_HOST,
} from './chain-names.js';
import type { ProxyAddress } from './proxy-address.js';

const NOT_BRIDGED = '-m physdev ! --physdev-is-in';
const LOCAL = '-m addrtype --dst-type LOCAL';

/**
 * The rules that lead packets for a service port's addresses to its proxy port (docs/spec/userspace.md §5.2); none for those of this
 * machine's processes while it has no address by which they reach it.
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
