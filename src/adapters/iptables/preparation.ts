import type { ForwardingEntry } from '../../domain/forwarding/forwarding-entry.js';
import type { ForwardingChange } from '../../domain/forwarding/forwarding-table.js';
import type { NodeNetwork } from '../../domain/forwarding/node-network.js';
import { ClusterSize } from '../../domain/iptables/cluster-size.js';
import { IptablesComposition } from '../../domain/iptables/composition.js';
import { compilesAlike, type IptablesHost, type IptablesOptions } from '../../domain/iptables/options.js';
import { JoinedChains } from '../../domain/iptables/joined-chains.js';
import type { SavedTables } from '../../domain/iptables/saved-tables.js';
import { OWNED_TABLE, type IptablesFragment } from '../../domain/iptables/table.js';
import type { ServicePortKey } from '../../domain/model/service-port-name.js';
import { nextGroupSize } from './chain-lines.js';

/** More than come at once, so that those are made up for that came before it was certain how to compile them. */
const PREPARED_AT_ONCE = 100;

/** A service port that is ready to be written, together with others. */
interface Prepared {
  readonly entry: ForwardingEntry;
  readonly fragment: IptablesFragment;
  readonly joined: JoinedChains;
}

/** What a start asks of the host. */
export interface HostReading {
  readonly present: TablesAsRead;
  readonly host: IptablesHost;
  readonly chainsPerCommit: number;
}

/** What the tables hold, and the epoch in which that is so. */
export interface TablesAsRead {
  readonly saved: SavedTables;
  readonly epoch: number | undefined;
}

/**
 * What is done before the first start, while the cluster is still being read. The tables are read. Where no service has
 * chains yet, service ports are compiled, and the text of their chains is made and joined, so that the start has only to
 * send it: that is most of its work. It begins when the cluster is known to be large: the rules of small ones differ, and
 * take no time. When a service port changes, those whose chains are joined with its own are prepared anew. What has become
 * wrong by the start is left out, and made then.
 */
export class Preparation {
  private readonly size = new ClusterSize();
  private readonly noted = new Map<ServicePortKey, ForwardingEntry>();
  private present = new IptablesComposition();
  private readonly prepared = new Map<ServicePortKey, Prepared>();
  private node: NodeNetwork | undefined;
  /** To which chains are added. */
  private gathering = new JoinedChains();
  /** How many chains the group before has. */
  private groupSize = 0;
  /** What rules are compiled for: `unread` yet, or `served` by those of an earlier process, which may be right already. */
  private host: HostReading | 'unread' | 'served' = 'unread';
  /** Undefined when the host cannot be read, which the start will meet as well. */
  readonly reading: Promise<HostReading | undefined>;

  constructor(
    reading: Promise<HostReading>,
    private readonly compile: (entry: ForwardingEntry, options: IptablesOptions) => IptablesFragment,
    private readonly isServiceChain: (name: string) => boolean,
  ) {
    this.reading = reading.then(
      (read) => {
        this.host = this.servesIn(read.present.saved) ? 'served' : read;
        if (this.host === 'served') this.noted.clear();
        return read;
      },
      () => undefined,
    );
  }

  /** Takes note of entries, and prepares some of those that it knows. */
  take(changes: readonly ForwardingChange[], node: NodeNetwork): void {
    if (this.host === 'served') return;
    if (this.node && !compilesAlike(this.node, node)) this.forgetAll();
    this.node = node;
    for (const { key, entry } of changes) {
      this.size.note(key, entry);
      const prepared = this.prepared.get(key);
      if (prepared) this.forget(prepared.joined);
      if (entry) this.noted.set(key, entry);
      else this.noted.delete(key);
    }
    if (this.host === 'unread' || !this.size.isLarge) return;
    const { host, chainsPerCommit } = this.host;
    let count = 0;
    for (const [key, entry] of this.noted) {
      if (++count > PREPARED_AT_ONCE) return;
      this.noted.delete(key);
      this.prepare(entry, { node, host, largeCluster: true });
      const enough = nextGroupSize(this.groupSize, chainsPerCommit);
      if (this.gathering.size < enough) continue;
      this.groupSize = enough;
      this.gathering.join();
      this.gathering = new JoinedChains();
    }
  }

  /** Forgets everything if the start compiles otherwise, or finds chains of services. */
  keepFor(
    { node, largeCluster }: Pick<IptablesOptions, 'node' | 'largeCluster'>,
    present: SavedTables,
  ): void {
    const compiledAlike = largeCluster && this.node && compilesAlike(this.node, node);
    if (!compiledAlike || this.servesIn(present)) this.forgetAll();
  }

  /** What is prepared: other fragments than the start's as well. */
  get composition(): IptablesComposition {
    return this.present;
  }

  /** Undefined when this very entry is not prepared. */
  fragment(entry: ForwardingEntry): IptablesFragment | undefined {
    const prepared = this.prepared.get(entry.key);
    return prepared?.entry === entry ? prepared.fragment : undefined;
  }

  /** The chains among which those of a fragment from here are. Undefined for any other fragment. */
  joined(key: ServicePortKey, fragment: IptablesFragment): JoinedChains | undefined {
    const prepared = this.prepared.get(key);
    return prepared?.fragment === fragment ? prepared.joined : undefined;
  }

  private servesIn(saved: SavedTables): boolean {
    const owned = saved.find(({ name }) => name === OWNED_TABLE);
    return owned?.chains.some(({ name }) => this.isServiceChain(name)) ?? false;
  }

  /** Those whose chains are joined are to be prepared anew. */
  private forget(joined: JoinedChains): void {
    for (const key of joined.owners) {
      this.noted.set(key, this.prepared.get(key)!.entry);
      this.prepared.delete(key);
    }
    if (joined === this.gathering) this.gathering = new JoinedChains();
  }

  private forgetAll(): void {
    for (const [key, { entry }] of this.prepared) this.noted.set(key, entry);
    this.prepared.clear();
    this.present = new IptablesComposition();
    this.gathering = new JoinedChains();
  }

  private prepare(entry: ForwardingEntry, options: IptablesOptions): void {
    const joined = this.gathering;
    try {
      const fragment = this.compile(entry, options);
      joined.add(entry.key, fragment);
      this.present.replace(entry.key, fragment);
      this.prepared.set(entry.key, { entry, fragment, joined });
    } catch {
      // The start compiles it again, and says why it cannot.
    }
  }
}
