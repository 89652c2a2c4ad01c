import type { ForwardingEntry } from '../forwarding/forwarding-entry.js';
import type { NodeNetwork } from '../forwarding/node-network.js';
import { iptablesBaseRules } from '../iptables/compile/base-rules.js';
import { isLargeCluster } from '../iptables/compile/cluster-size.js';
import { compileIptables } from '../iptables/compile/compile.js';
import type { IptablesHost } from '../iptables/compile/options.js';
import { IptablesDesiredState } from '../iptables/state/desired-state.js';
import { desiredRules } from '../iptables/walk/desired-rules.js';
import { ipvsBaseRules } from '../ipvs/base-rules.js';
import { compileIpvs } from '../ipvs/compile.js';
import { IpvsDesiredState } from '../ipvs/desired-state.js';
import { desiredIptablesRules, desiredSets } from '../ipvs/desired-tables.js';
import type { IpvsOptions } from '../ipvs/options.js';
import { desiredServer } from '../ipvs/walk/desired-walk.js';
import type { Side } from './side.js';
import { ipvsSide, tablesSide } from './tables-side.js';

/** What mode iptables would write for these entries. */
export function plannedIptables(
  entries: readonly ForwardingEntry[],
  node: NodeNetwork,
  host: IptablesHost,
): Side {
  const options = { node, host, largeCluster: isLargeCluster(entries) };
  const desired = new IptablesDesiredState();
  for (const entry of entries) desired.replace(entry.key, compileIptables(entry, options));
  return tablesSide(desiredRules(desired, iptablesBaseRules(node, host)));
}

/** What mode ipvs would write for these entries. */
export function plannedIpvs(
  entries: Iterable<ForwardingEntry>,
  node: NodeNetwork,
  host: Pick<IptablesHost, 'randomFully'>,
  options: Omit<IpvsOptions, 'node'>,
): Side {
  const desired = new IpvsDesiredState();
  for (const entry of entries) desired.replace(entry.key, compileIpvs(entry, { ...options, node }));
  const servers = [...desired.serverKeys()].map((key) => [key, desiredServer(desired, key)!] as const);
  return ipvsSide({
    rules: desiredRules(desiredIptablesRules(desired), ipvsBaseRules(node, host, desired.filled)),
    sets: desiredSets(desired, node.family),
    servers: new Map(servers),
    addresses: new Set(desired.addresses()),
  });
}
