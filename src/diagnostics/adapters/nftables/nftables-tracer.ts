import type { Tracer, Walk } from '../../application/ports/tracer.js';
import type { ForwardingEntry } from '../../../domain/forwarding/forwarding-entry.js';
import type { NodeNetwork } from '../../../domain/forwarding/node-network.js';
import type { Side } from '../../domain/compare/side.js';
import { plannedNftables } from './planned-side.js';
import { nftablesDesiredWalk } from './desired-walk.js';

/** Follows packets through nftables mode. */
export class NftablesTracer implements Tracer {
  constructor(readonly actual: (signal?: AbortSignal) => Promise<Walk>) {}

  desired(entries: Iterable<ForwardingEntry>, node: NodeNetwork): Walk {
    return nftablesDesiredWalk(entries, node);
  }

  planned(entries: Iterable<ForwardingEntry>, node: NodeNetwork): Promise<Side> {
    return Promise.resolve(plannedNftables(entries, node));
  }
}
