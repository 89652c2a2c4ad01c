import type { ForwardingEntry } from '../../domain/forwarding/forwarding-entry.js';
import type { ForwardingChange } from '../../domain/forwarding/forwarding-table.js';
import type { NodeNetwork } from '../../domain/forwarding/node-network.js';
import { CANARY } from '../../domain/iptables/chain-names.js';
import { ClusterSize } from '../../domain/iptables/cluster-size.js';
import { compilesAlike, type IptablesHost, type IptablesOptions } from '../../domain/iptables/options.js';
import { savedRules, type SavedTables } from '../../domain/iptables/saved-tables.js';
import { OWNED_TABLE, type Chain, type IptablesFragment } from '../../domain/iptables/table.js';
import { WrittenChain } from '../../domain/iptables/written-chain.js';
import type { ServicePortKey } from '../../domain/model/service-port-name.js';

/** More than come at once, so that those are made up for that came before it was certain how to compile them. */
const PREPARED_AT_ONCE = 100;

/** A service port that is ready to be written. */
interface Prepared {
  readonly entry: ForwardingEntry;
  readonly fragment: IptablesFragment;
  readonly chains: readonly Chain[];
}

/** What a start asks of the host. */
export interface HostReading {
  readonly present: TablesAsRead;
  readonly host: IptablesHost;
}

/** What the tables hold, and the epoch in which that is so. */
export interface TablesAsRead {
  readonly saved: SavedTables;
  readonly epoch: number | undefined;
}

/**
 * What is done before the first start, while the cluster is still being read. The tables are read. Where no earlier process
 * has left its rules there, service ports are compiled, and the text of their chains is made, which is most of the work of a
 * start. That begins when the cluster is known to be large: the rules of small ones differ, and take no time. Whatever has
 * become wrong by the start is left out, and made then.
 */
export class Preparation {
  private readonly size = new ClusterSize();
  private readonly noted = new Map<ServicePortKey, ForwardingEntry>();
  private readonly prepared = new Map<ServicePortKey, Prepared>();
  private node: NodeNetwork | undefined;
  /** What rules are compiled for: `unread` yet, or `served` by those of an earlier process. */
  private host: IptablesHost | 'unread' | 'served' = 'unread';
  /** Undefined when the host cannot be read, which the start will meet as well. */
  readonly reading: Promise<HostReading | undefined>;

  constructor(
    reading: Promise<HostReading>,
    private readonly compile: (entry: ForwardingEntry, options: IptablesOptions) => IptablesFragment,
  ) {
    this.reading = reading.then(
      (read) => {
        this.host = savedRules(read.present.saved, OWNED_TABLE, CANARY) ? 'served' : read.host;
        if (this.host === 'served') this.noted.clear();
        return read;
      },
      () => undefined,
    );
  }

  /** Takes note of entries, and prepares some of those that it knows. */
  take(changes: readonly ForwardingChange[], node: NodeNetwork): void {
    if (this.host === 'served') return;
    if (this.node && !compilesAlike(this.node, node)) this.prepared.clear();
    this.node = node;
    for (const { key, entry } of changes) {
      this.size.note(key, entry);
      this.prepared.delete(key);
      if (entry) this.noted.set(key, entry);
      else this.noted.delete(key);
    }
    if (this.host === 'unread' || !this.size.isLarge) return;
    const options = { node, host: this.host, largeCluster: true };
    let count = 0;
    for (const [key, entry] of this.noted) {
      if (++count > PREPARED_AT_ONCE) return;
      this.noted.delete(key);
      this.prepare(entry, options);
    }
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
