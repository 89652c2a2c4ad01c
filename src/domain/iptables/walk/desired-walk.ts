import type { ForwardingEntry } from '../../forwarding/forwarding-entry.js';
import type { NodeNetwork } from '../../forwarding/node-network.js';
import type { Packet, PacketEnvironment } from '../../trace/packet.js';
import type { TracedEnding } from '../../trace/traced-ending.js';
import { iptablesBaseRules } from '../compile/base-rules.js';
import { ClusterSize } from '../compile/cluster-size.js';
import { compileIptables } from '../compile/compile.js';
import type { IptablesHost, IptablesOptions } from '../compile/options.js';
import { IptablesDesiredState } from '../state/desired-state.js';
import { ConcernedEntries } from '../../trace/concerned-entries.js';
import { desiredRules } from './desired-rules.js';
import { walkTables } from './tables-walk.js';

/** Follows packets through the tables that these entries make. For each packet it compiles what concerns that packet. */
export class IptablesDesiredWalk {
  private readonly entries: ConcernedEntries;
  private readonly options: IptablesOptions;

  constructor(
    entries: Iterable<ForwardingEntry>,
    private readonly node: NodeNetwork,
    private readonly host: IptablesHost,
  ) {
    const all = [...entries];
    const size = new ClusterSize();
    for (const entry of all) size.note(entry.key, entry);
    this.options = { node, host, largeCluster: size.isLarge };
    this.entries = new ConcernedEntries(all);
  }

  walk(packet: Packet, environment: PacketEnvironment): readonly TracedEnding[] {
    const desired = new IptablesDesiredState();
    for (const entry of this.entries.of(packet))
      desired.replace(entry.key, compileIptables(entry, this.options));
    const rules = desiredRules(desired, iptablesBaseRules(this.node, this.host));
    return walkTables(rules, packet, environment);
  }
}
