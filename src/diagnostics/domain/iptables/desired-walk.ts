import type { ForwardingEntry } from '../../../domain/forwarding/forwarding-entry.js';
import type { NodeNetwork } from '../../../domain/forwarding/node-network.js';
import { iptablesBaseRules } from '../../../domain/iptables/base-rules.js';
import { isLargeCluster, type IptablesHost } from '../../../domain/iptables/options.js';
import { compileIptables } from '../../../domain/iptables/compile.js';
import { IptablesDesiredState } from '../../../domain/iptables/desired-state.js';
import type { DesiredWalk } from '../walk/desired-walk.js';
import { ConcernedEntries } from '../trace/concerned-entries.js';
import { desiredRules } from './desired-rules.js';
import { walkTables } from './tables-walk.js';

/** Follows packets through the tables that these entries make. For each packet it compiles what concerns that packet. */
export function iptablesDesiredWalk(
  all: readonly ForwardingEntry[],
  node: NodeNetwork,
  host: IptablesHost,
): DesiredWalk {
  const options = { node, host, largeCluster: isLargeCluster(all) };
  const entries = new ConcernedEntries(all);
  return {
    walk(packet, environment) {
      const desired = new IptablesDesiredState();
      for (const entry of entries.of(packet)) desired.replace(entry.key, compileIptables(entry, options));
      return walkTables(desiredRules(desired, iptablesBaseRules(node, host)), packet, environment);
    },
  };
}
