import type { NodeNetwork } from '../forwarding/node-network.js';
import type { IpSet } from '../ipset/ip-set.js';
import type { IptablesHost } from '../iptables/compile/options.js';
import { IptablesDesiredState } from '../iptables/state/desired-state.js';
import { DesiredTables } from '../iptables/state/desired-tables.js';
import { ipvsBaseRules } from './base-rules.js';
import type { IpvsDesiredState } from './desired-state.js';
import type { ServedAddress } from './service-port-rules.js';
import { SERVICE_SETS, setHeader } from './service-sets.js';

/** Everything of mode ipvs in one family: what a fresh start makes, and `plan` prints. */
export interface IpvsDesiredTables {
  readonly servers: readonly ServedAddress[];
  /** The addresses bound to the device of service addresses. */
  readonly addresses: readonly string[];
  readonly sets: readonly IpSet[];
  readonly rules: DesiredTables;
}

/** The desired state written out, sorted by key. */
export function ipvsDesiredTables(
  desired: IpvsDesiredState,
  node: NodeNetwork,
  host: Pick<IptablesHost, 'randomFully'>,
): IpvsDesiredTables {
  const servers = [...desired.allServers()].sort(([one], [other]) => (one < other ? -1 : 1));
  return {
    servers: servers.map(([, { server, endpoints }]) => ({ server, endpoints })),
    addresses: [...desired.addresses()].sort(),
    sets: SERVICE_SETS.map((set) => ({
      ...setHeader(set, node.family),
      members: new Set([...desired.membersOf(set)].sort()),
    })),
    rules: new DesiredTables(desiredIptablesRules(desired), ipvsBaseRules(node, host, desired.filled)),
  };
}

/** What service ports put into iptables in this mode. */
export function desiredIptablesRules(desired: IpvsDesiredState): IptablesDesiredState {
  const rules = new IptablesDesiredState();
  for (const owner of desired.ownersOfIptablesRules()) rules.replace(owner, desired.iptablesRules(owner));
  return rules;
}
