import type { NodeNetwork } from '../forwarding/node-network.js';
import type { IpSet } from '../ipset/ip-set.js';
import type { IptablesHost } from '../iptables/compile/options.js';
import { IptablesDesiredState } from '../iptables/state/desired-state.js';
import { DesiredTables } from '../iptables/state/desired-tables.js';
import type { IpFamily } from '../net/ip-family.js';
import { ipvsBaseRules } from './base-rules.js';
import type { IpvsDesiredState } from './desired-state.js';
import type { ServedAddress } from './service-port-rules.js';
import { SERVICE_SETS, setHeader, setOf, withoutSet, type ServiceSet } from './service-sets.js';

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
  return {
    servers: [...desired.serverKeys()].sort().map((key) => desired.server(key)!),
    addresses: [...desired.addresses()].sort(),
    sets: desiredSets(desired, node.family),
    rules: new DesiredTables(desiredIptablesRules(desired), ipvsBaseRules(node, host, desired.filled)),
  };
}

/** All sets, their members sorted. */
export function desiredSets(desired: IpvsDesiredState, family: IpFamily): readonly IpSet[] {
  const members = new Map<ServiceSet, Set<string>>(SERVICE_SETS.map((set) => [set, new Set()]));
  for (const member of [...desired.members()].sort()) members.get(setOf(member))!.add(withoutSet(member));
  return SERVICE_SETS.map((set) => ({ ...setHeader(set, family), members: members.get(set)! }));
}

/** What service ports put into iptables in this mode. */
export function desiredIptablesRules(desired: IpvsDesiredState): IptablesDesiredState {
  const rules = new IptablesDesiredState();
  for (const owner of desired.ownersOfIptablesRules()) rules.replace(owner, desired.iptablesRules(owner));
  return rules;
}
