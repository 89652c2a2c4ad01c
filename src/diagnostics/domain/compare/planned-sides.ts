import type { ForwardingEntry } from '../../../domain/forwarding/forwarding-entry.js';
import type { NodeNetwork } from '../../../domain/forwarding/node-network.js';
import { iptablesBaseRules } from '../../../domain/iptables/base-rules.js';
import { isLargeCluster, type IptablesHost } from '../../../domain/iptables/options.js';
import { compileIptables } from '../../../domain/iptables/compile.js';
import { IptablesDesiredState } from '../../../domain/iptables/desired-state.js';
import { desiredRules } from '../iptables/desired-rules.js';
import { ipvsBaseRules } from '../../../domain/ipvs/base-rules.js';
import { compileIpvs, type IpvsOptions } from '../../../domain/ipvs/compile.js';
import { IpvsDesiredState, desiredIptablesRules, desiredSets } from '../../../domain/ipvs/desired-state.js';
import { desiredServer } from '../ipvs/desired-walk.js';
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
