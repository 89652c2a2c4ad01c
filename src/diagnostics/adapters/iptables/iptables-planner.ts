import type { Planner } from '../../application/ports/planner.js';
import type { ForwardingEntry } from '../../../domain/forwarding/forwarding-entry.js';
import type { NodeNetwork } from '../../../domain/forwarding/node-network.js';
import { isServiceChain } from '../../../domain/iptables/chain-names.js';
import { isLargeCluster, type IptablesHost } from '../../../domain/iptables/options.js';
import { compileIptables } from '../../../domain/iptables/compile.js';
import { IptablesDesiredState, DesiredTables } from '../../../domain/iptables/desired-state.js';
import { iptablesBaseRules } from '../../../domain/iptables/base-rules.js';
import { program } from '../../../adapters/iptables/variants.js';
import { tablesDifference } from '../../../adapters/iptables/tables-difference.js';

/** Plans iptables mode: the input of one iptables-restore, or of ip6tables-restore, as its first line says. */
export class IptablesPlanner implements Planner {
  /** @param host what the rules depend on */
  constructor(private readonly host: IptablesHost) {}

  plan(entries: Iterable<ForwardingEntry>, node: NodeNetwork): string {
    const { host } = this;
    const all = [...entries];
    const options = { node, host, largeCluster: isLargeCluster(all) };
    const desired = new IptablesDesiredState();
    for (const entry of all) desired.replace(entry.key, compileIptables(entry, options));
    const tables = new DesiredTables(desired, iptablesBaseRules(node, host));
    const { repair } = tablesDifference(tables, [], { chainsPerCommit: Infinity, isServiceChain });
    return `# ${program('iptables', node.family, 'restore')} --noflush\n${[...repair.text()].join('')}`;
  }
}
