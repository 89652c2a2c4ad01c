import type { Tracer, Walk } from '../../application/ports/tracer.js';
import { plannedIptables } from '../../domain/compare/planned-sides.js';
import type { Side } from '../../domain/compare/side.js';
import type { ForwardingEntry } from '../../../domain/forwarding/forwarding-entry.js';
import type { NodeNetwork } from '../../../domain/forwarding/node-network.js';
import type { IptablesHost } from '../../../domain/iptables/options.js';
import type { SavedTables } from '../../../domain/iptables/saved-tables.js';
import { iptablesDesiredWalk } from '../../domain/iptables/desired-walk.js';
import { walkWithDevices } from '../../domain/iptables/known-devices.js';
import { SavedRules } from '../../domain/iptables/saved-rules.js';
import { walkTables } from '../../domain/iptables/tables-walk.js';
import { isIptablesChain } from './own-chains.js';

/** Follows packets through mode iptables. Tables in nftables that are not iptables' own are not seen. */
export class IptablesTracer implements Tracer {
  /**
   * @param readHost what the rules depend on
   * @param readTables all tables of the family, as iptables-save prints them; rejects with an ToolError
   */
  constructor(
    private readonly readHost: () => Promise<IptablesHost>,
    private readonly readTables: (signal?: AbortSignal) => Promise<SavedTables>,
  ) {}

  async desired(entries: Iterable<ForwardingEntry>, node: NodeNetwork): Promise<Walk> {
    return iptablesDesiredWalk([...entries], node, await this.readHost());
  }

  async planned(entries: Iterable<ForwardingEntry>, node: NodeNetwork): Promise<Side> {
    return plannedIptables([...entries], node, await this.readHost());
  }

  async actual(signal?: AbortSignal): Promise<Walk> {
    const rules = new SavedRules(await this.readTables(signal), isIptablesChain);
    return {
      walk: (packet, environment) =>
        walkWithDevices(environment, (devices) => walkTables(rules, packet, environment, { devices })),
    };
  }
}
