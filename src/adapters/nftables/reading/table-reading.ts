import type { NodeNetwork } from '../../../domain/forwarding/node-network.js';
import type { NftablesDesiredState } from '../../../domain/nftables/state/desired-state.js';
import type { TablePart } from '../../../domain/nftables/state/service-port-rules.js';
import type { TableState } from '../transport.js';

/** What the table holds, without what it holds as it should. */
export interface TableReading {
  /** Undefined: there is no table. Without the elements of verified parts. */
  readonly state: TableState | undefined;
  /** Parts of the desired state whose elements are all there. */
  readonly verified: ReadonlySet<TablePart>;
  /** Service ports were recognized by their digests: the table may lack some of their elements, or have unknown ones. */
  readonly isPartial: boolean;
}

/** The desired state to compare with, and the node. */
export interface Desired {
  readonly state: NftablesDesiredState;
  readonly node: NodeNetwork;
}
