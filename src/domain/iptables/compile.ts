import type { ForwardingEntry } from '../forwarding/forwarding-entry.js';
import type { IptablesOptions } from './options.js';
import { checkServiceChains, serviceChains } from './service-chains.js';
import { ServicePortTerms } from './service-port-terms.js';
import { sharedEntries } from './shared-entries.js';
import type { Chain, IptablesFragment, SharedEntry } from './table.js';

/**
 * Compiles one service port into what it puts into the tables of its family (spec/iptables.md §7).
 * @throws UnsafeRuleTextError when a value of the entry cannot stand in a rule
 */
export function compileIptables(entry: ForwardingEntry, options: IptablesOptions): IptablesFragment {
  const terms = new ServicePortTerms(entry);
  checkServiceChains(terms, options);
  return new CompiledFragment(sharedEntries(terms, options), entry, options);
}

class CompiledFragment implements IptablesFragment {
  constructor(
    readonly entries: readonly SharedEntry[],
    private readonly entry: ForwardingEntry,
    private readonly options: IptablesOptions,
  ) {}

  get chains(): readonly Chain[] {
    return serviceChains(new ServicePortTerms(this.entry), this.options);
  }
}
