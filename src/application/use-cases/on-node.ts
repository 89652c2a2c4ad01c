import { readNode } from '../../domain/border/read-node.js';
import type { Node } from '../../domain/model/node.js';
import type { ClusterState } from '../../domain/state/cluster-state.js';
import type { ObjectReference } from '../ports/cluster-source.js';
import type { Logger } from '../ports/logger.js';
import type { ObjectUseCase } from './cluster-events.js';
import type { FamilyLoops } from './family-loops.js';
import { rawName, type ObjectReports } from './object-reports.js';

/**
 * Use case OnNode. Only the own Node counts. Its zone decides about every Service with hints, its addresses about node
 * ports and source ranges. A Node that vanishes keeps its last form.
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
    const { value, problems } = readNode(object);
    const name = value?.name ?? rawName(object);
    if (name !== this.nodeName) return;
    this.reports.report('Node', name, problems, value !== undefined);
    const former = this.state.node;
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

function onlyLeavingDiffers(one: Node, other: Node): boolean {
  return JSON.stringify({ ...one, leaving: false }) === JSON.stringify({ ...other, leaving: false });
}
