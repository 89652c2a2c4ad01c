import { readNode } from '../../domain/decode/read-node.js';
import type { Node } from '../../domain/model/node.js';
import type { ClusterState } from '../../domain/state/cluster-state.js';
import type { ObjectReference } from '../ports/cluster-source.js';
import type { Logger } from '../ports/logger.js';
import type { ObjectUseCase } from './cluster-events.js';
import type { FamilyLoops } from './family-loops.js';
import { rawName, type ObjectReports } from './object-reports.js';

/**
 * Use case OnNode. Only the own Node counts. Its zone decides about every Service with hints, its addresses about node
 * ports and source ranges, its podCIDRs about local traffic. A Node that vanishes keeps its last form, and one that is
 * registered anew its last addresses and podCIDRs until it has some: for that moment the old ones are the better guess.
 */
export class OnNode implements ObjectUseCase {
  constructor(
    private readonly state: ClusterState,
    private readonly loops: FamilyLoops,
    private readonly reports: ObjectReports,
    private readonly logger: Logger,
    private readonly nodeName: string,
    private readonly observed: (node: Node) => void,
  ) {}

  applied(object: unknown): void {
    const { value: read, problems } = readNode(object);
    const name = read?.name ?? rawName(object);
    if (name !== this.nodeName) return;
    const former = this.state.node;
    const { value, kept } = read ? completed(read, former) : { value: undefined, kept: [] };
    this.reports.report('Node', name, [...problems, ...kept], value !== undefined);
    if (!value || !this.state.applyNode(value)) return;
    this.observed(value);
    if (former && onlyLeavingDiffers(former, value)) return;
    this.loops.note('all', (pending) => {
      pending.everyServiceChanged();
      pending.nodeChanged();
    });
  }

  deleted({ name }: ObjectReference): void {
    if (name === this.nodeName)
      this.logger.warn({ node: name }, 'own Node was deleted; its last form counts on');
  }
}

/** The Node with what only its last form had, and a complaint for each such thing. */
function completed(node: Node, former: Node | undefined): { readonly value: Node; readonly kept: string[] } {
  const lostIPs = node.ips.length === 0 && former !== undefined && former.ips.length > 0;
  const lostCIDRs = node.podCIDRs.length === 0 && former !== undefined && former.podCIDRs.length > 0;
  return {
    value: {
      ...node,
      ...(lostIPs && { ips: former.ips }),
      ...(lostCIDRs && { podCIDRs: former.podCIDRs }),
    },
    kept: [
      ...(lostIPs ? ['status.addresses has no address any more; the last ones count on'] : []),
      ...(lostCIDRs ? ['spec.podCIDRs is empty now; the last ones count on'] : []),
    ],
  };
}

function onlyLeavingDiffers(one: Node, other: Node): boolean {
  return JSON.stringify({ ...one, leaving: false }) === JSON.stringify({ ...other, leaving: false });
}
