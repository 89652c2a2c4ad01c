import type { ForwardingEntry } from '../../forwarding/forwarding-entry.js';
import { countsAlike, type IptablesOptions } from './options.js';
import { checkServiceChains, serviceChains } from './service-chains.js';
import { ServicePortTerms } from './service-port-terms.js';
import { sharedEntries, sharesAlike } from './shared-entries.js';
import type { Chain, IptablesServicePortRules, SharedEntry } from '../table.js';

/**
 * Compiles one service port into what it puts into the tables of its family (docs/spec/iptables.md §7).
 * @param former of the same service port, or none: what has stayed the same is taken from it
 * @throws UnsafeRuleTextError when a value of the entry cannot stand in a rule
 */
export function compileIptables(
  entry: ForwardingEntry,
  options: IptablesOptions,
  former?: IptablesServicePortRules,
): IptablesServicePortRules {
  checkServiceChains(entry, options);
  const shared =
    former instanceof CompiledRules && former.sharesWith(entry, options)
      ? former.entries
      : sharedEntries(new ServicePortTerms(entry), options);
  return new CompiledRules(shared, entry, options);
}

class CompiledRules implements IptablesServicePortRules {
  constructor(
    readonly entries: readonly SharedEntry[],
    private readonly entry: ForwardingEntry,
    private readonly options: IptablesOptions,
  ) {}

  /** Whether the shared entries are those of the other as well. */
  sharesWith(entry: ForwardingEntry, options: IptablesOptions): boolean {
    return sharesAlike(this.entry, entry) && countsAlike(this.options, options);
  }

  get chains(): readonly Chain[] {
    return serviceChains(new ServicePortTerms(this.entry), this.options);
  }
}
