import type { Node } from '../../../domain/model/node.js';
import { AssumedNode } from '../../domain/trace/assumed-node.js';
import type { LocalAddresses } from '../../../application/ports/node/local-addresses.js';
import type { PacketForwarding } from '../../../application/ports/node/packet-forwarding.js';
import type { Routes } from '../../../application/ports/node/routes.js';
import { AssumedView } from './assumed-view.js';
import { MachineView } from './machine-view.js';
import type { NodeView } from './node-view.js';
import { TracePackets, type Destinations, type TracedFamily } from './trace-packets.js';

/** The node whose packets are followed, and the machine that follows them. */
export interface TracedNode {
  /** Undefined if the source has no Node object: then the node is this machine. */
  readonly node: Node | undefined;
  /** Of this machine. */
  readonly addresses: Pick<LocalAddresses, 'list'>;
  readonly routes: Pick<Routes, 'to'>;
  /** Missing: packets pass through a process instead of being forwarded. */
  readonly forwarding?: PacketForwarding | undefined;
}

/** Whether this machine is the node: it has one of the node's addresses. */
function isThisMachine(node: Node, addresses: readonly string[]): boolean {
  return node.ips.some(({ text }) => addresses.includes(text));
}

/** What decides about the packets of one family. */
export type FamilyRules = Omit<TracedFamily, 'view' | 'podCIDRs'>;

/** The use case for a node, with its families. */
export function tracePackets(
  traced: TracedNode,
  families: readonly FamilyRules[],
  destinations?: Destinations,
): TracePackets {
  const podCIDRs = traced.node?.podCIDRs ?? [];
  return new TracePackets(
    families.map((rules) => ({ ...rules, podCIDRs, view: viewOf(traced, rules) })),
    destinations,
  );
}

function viewOf({ node, addresses, routes, forwarding }: TracedNode, rules: FamilyRules): NodeView {
  const own = addresses.list();
  if (!node || isThisMachine(node, own))
    return new MachineView(new Set([...own, '127.0.0.1', '::1']), routes, forwarding);
  return new AssumedView(new AssumedNode(node), rules.network, () => rules.entries());
}

/** The addresses of the node: this machine's, or those that are assumed where it is another one. */
export class TracedAddresses implements LocalAddresses {
  constructor(
    private readonly machine: LocalAddresses,
    private readonly node: () => Node | undefined,
  ) {}

  list(): readonly string[] {
    const own = this.machine.list();
    const node = this.node();
    return !node || isThisMachine(node, own) ? own : [...new AssumedNode(node).localAddresses];
  }

  close(): void {
    this.machine.close?.();
  }
}
