import { readNode } from '../../domain/decode/read-node.js';
import type { Node } from '../../domain/model/node.js';
import { IP_FAMILIES } from '../../domain/net/ip-family.js';
import type { ObjectReference } from '../ports/cluster-source.js';
import type { HandlerParts, ObjectHandler } from './object-handler.js';
import { rawName } from './object-reports.js';

/**
 * Use cases OnNodeAdd, OnNodeUpdate, OnNodeDelete and OnNodeSynced. Only this node's Node object counts. Its zone affects every
 * Service with hints, its addresses affect node ports and source ranges, its podCIDRs affect local traffic. A deleted Node keeps its
 * last version. One that is registered again keeps its last addresses and podCIDRs until it has new ones: until then the old ones
 * are the better guess.
 */
export class NodeHandler implements ObjectHandler {
  constructor(private readonly parts: HandlerParts) {}

  applied(object: unknown): void {
    const { state, reports, nodeName } = this.parts;
    const { value: read, problems } = readNode(object);
    const name = read?.name ?? rawName(object);
    if (name !== nodeName) return;
    const previous = state.node;
    const { value, kept } = read ? completed(read, previous) : { value: undefined, kept: [] };
    reports.report('Node', name, [...problems, ...kept], value !== undefined);
    if (!value) return;
    if (previous) this.onNodeUpdate(previous, value);
    else this.onNodeAdd(value);
  }

  deleted({ name }: ObjectReference): void {
    if (name === this.parts.nodeName) this.onNodeDelete(name);
  }

  synced(): void {
    this.onNodeSynced();
  }

  onNodeAdd(node: Node): void {
    this.parts.logger.verbose?.(4)?.debug({ node: node.name }, 'Calling handler.OnNodeAdd');
    if (this.apply(node)) this.everythingChanged();
  }

  onNodeUpdate(previous: Node, node: Node): void {
    this.parts.logger.verbose?.(4)?.debug({ node: node.name }, 'Calling handler.OnNodeUpdate');
    if (!this.apply(node)) return;
    if (onlyDrainingDiffers(previous, node)) return;
    this.everythingChanged();
  }

  onNodeDelete(name: string): void {
    const { logger } = this.parts;
    logger.verbose?.(4)?.debug({ node: name }, 'Calling handler.OnNodeDelete');
    logger.warn({ node: name }, "this node's Node object was deleted; keeping its last version");
  }

  onNodeSynced(): void {
    this.parts.logger.verbose?.(3)?.debug({}, 'Calling handler.OnNodeSynced()');
  }

  /** Returns whether that changed anything. */
  private apply(node: Node): boolean {
    const isChanged = this.parts.state.applyNode(node);
    this.parts.logger.verbose?.(5)?.debug({ node: node.name, changed: isChanged }, 'Node event handled');
    if (isChanged) this.parts.nodeChanged(node);
    return isChanged;
  }

  private everythingChanged(): void {
    this.parts.loops.note(IP_FAMILIES, (pending) => {
      pending.everyServiceChanged();
      pending.nodeChanged();
    });
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

function onlyDrainingDiffers(one: Node, other: Node): boolean {
  return JSON.stringify({ ...one, draining: false }) === JSON.stringify({ ...other, draining: false });
}
