import { readNode } from '../../domain/decode/read-node.js';
import type { Node } from '../../domain/model/node.js';
import { IP_FAMILIES } from '../../domain/net/ip-family.js';
import type { ClusterState } from '../../domain/state/cluster-state.js';
import type { ObjectReference } from '../ports/cluster-source.js';
import type { Logger } from '../ports/logger.js';
import type { ObjectUseCase } from './cluster-events.js';
import type { FamilyLoops } from './family-loops.js';
import { rawName, type ObjectReports } from './object-reports.js';

/**
 * Use case OnNode. Only this node's Node object counts. Its zone affects every Service with hints, its addresses affect node
 * ports and source ranges, its podCIDRs affect local traffic. A deleted Node keeps its last version. One that is registered
 * again keeps its last addresses and podCIDRs until it has new ones: for that moment the old ones are the better guess.
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
    const previous = this.state.node;
    const { value, kept } = read ? completed(read, previous) : { value: undefined, kept: [] };
    this.reports.report('Node', name, [...problems, ...kept], value !== undefined);
    if (!value || !this.state.applyNode(value)) return;
    this.observed(value);
    if (previous && onlyLeavingDiffers(previous, value)) return;
    this.loops.note(IP_FAMILIES, (pending) => {
      pending.everyServiceChanged();
      pending.nodeChanged();
    });
  }

  deleted({ name }: ObjectReference): void {
    if (name === this.nodeName)
      this.logger.warn({ node: name }, "this node's Node object was deleted; keeping its last version");
  }
}

/** The Node, completed with what only its last version had, and a note about each such field. */
function completed(
  node: Node,
  previous: Node | undefined,
): { readonly value: Node; readonly kept: string[] } {
  const lostIPs = node.ips.length === 0 && previous !== undefined && previous.ips.length > 0;
  const lostCIDRs = node.podCIDRs.length === 0 && previous !== undefined && previous.podCIDRs.length > 0;
  return {
    value: {
      ...node,
      ...(lostIPs && { ips: previous.ips }),
      ...(lostCIDRs && { podCIDRs: previous.podCIDRs }),
    },
    kept: [
      ...(lostIPs ? ['status.addresses is empty now; keeping the last ones'] : []),
      ...(lostCIDRs ? ['spec.podCIDRs is empty now; keeping the last ones'] : []),
    ],
  };
}

function onlyLeavingDiffers(one: Node, other: Node): boolean {
  return JSON.stringify({ ...one, leaving: false }) === JSON.stringify({ ...other, leaving: false });
}
