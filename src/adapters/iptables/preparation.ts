import type { ForwardingEntry } from '../../domain/forwarding/forwarding-entry.js';
import type { ForwardingChange } from '../../domain/forwarding/forwarding-table.js';
import type { NodeNetwork } from '../../domain/forwarding/node-network.js';
import { ClusterSize } from '../../domain/iptables/cluster-size.js';
import { compilesAlike, type IptablesHost, type IptablesOptions } from '../../domain/iptables/options.js';
import type { Chain, IptablesFragment } from '../../domain/iptables/table.js';
import { WrittenChain } from '../../domain/iptables/written-chain.js';
import type { ServicePortKey } from '../../domain/model/service-port-name.js';

/** A service port that is ready to be written. */
interface Prepared {
  readonly entry: ForwardingEntry;
  readonly fragment: IptablesFragment;
  readonly chains: readonly Chain[];
}

/**
 * What is compiled before the first start, while the cluster is still being read: fragments, and the text of their chains,
 * which is most of the work of a start. That begins when the cluster is known to be large: the rules of small ones differ,
 * and take no time. Whatever has become wrong by the start is left out, and made then.
 */
export class Preparation {
  private readonly size = new ClusterSize();
  private readonly noted = new Map<ServicePortKey, ForwardingEntry>();
  private readonly prepared = new Map<ServicePortKey, Prepared>();
  private node: NodeNetwork | undefined;

  constructor(
    readonly host: IptablesHost,
    private readonly compile: (entry: ForwardingEntry, options: IptablesOptions) => IptablesFragment,
  ) {}

  take(changes: readonly ForwardingChange[], node: NodeNetwork): void {
    if (this.node && !compilesAlike(this.node, node)) this.prepared.clear();
    this.node = node;
    for (const { key, entry } of changes) {
      this.size.note(key, entry);
      this.prepared.delete(key);
      if (entry) this.noted.set(key, entry);
      else this.noted.delete(key);
    }
    if (!this.size.isLarge) return;
    const options = { node, host: this.host, largeCluster: true };
    for (const entry of this.noted.values()) this.prepare(entry, options);
    this.noted.clear();
  }

  /** Forgets everything if the start compiles otherwise. */
  keepFor({ node, largeCluster }: Pick<IptablesOptions, 'node' | 'largeCluster'>): void {
    if (!largeCluster || !this.node || !compilesAlike(this.node, node)) this.prepared.clear();
  }

  /** Undefined when this very entry is not prepared. */
  fragment(entry: ForwardingEntry): IptablesFragment | undefined {
    const prepared = this.prepared.get(entry.key);
    return prepared?.entry === entry ? prepared.fragment : undefined;
  }

  /** The written chains of a fragment from here, once: they are not kept. Undefined for any other fragment. */
  takeChains(key: ServicePortKey, fragment: IptablesFragment): readonly Chain[] | undefined {
    const prepared = this.prepared.get(key);
    this.prepared.delete(key);
    return prepared?.fragment === fragment ? prepared.chains : undefined;
  }

  private prepare(entry: ForwardingEntry, options: IptablesOptions): void {
    try {
      const fragment = this.compile(entry, options);
      const chains = fragment.chains.map((chain) => new WrittenChain(chain));
      this.prepared.set(entry.key, { entry, fragment, chains });
    } catch {
      // The start compiles it again, and says why it cannot.
    }
  }
}
